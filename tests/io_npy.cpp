// SPDX-License-Identifier: BSL-1.0
// In: .npy files of NumPy (tests/golden/io) and bad ones made of them. Out: their numbers under named axes, the same
// bytes written again, and for each bad file its sentence, before anything is read or written.
// Next: io_safetensors.cpp.
#include "support/files.hpp"
#include <heed/io/npy.hpp>

#include <numeric>

using namespace heed;
using namespace test;

namespace {

struct block : axis<2> {};

/// The golden of a stored type, in both orders, read as T.
template <class Stored, class T = Stored> void check_type(const std::string& name) {
  for (const char* const order : {"", "_fortran"}) BOOST_TEST_CONTEXT(name + order) {
      const auto path = golden_file(name + order + ".npy");
      BOOST_TEST((is_golden<Stored>(io::read_npy<T, row, column>(path))));
      BOOST_TEST((is_golden<Stored>(io::read_npy<T, any_row, any_column>(path, any_column{4}))));
    }
}

/// NumPy's bytes come out again.
template <class T> void check_bytes(const std::string& name) {
  const temporary_folder folder;
  const auto path = folder / "written.npy";
  const auto t = golden_tensor<T, row, column>();
  BOOST_TEST_CONTEXT(name) {
    io::write_npy(path, t);
    BOOST_TEST((content(path) == content(golden_file(name + ".npy"))));
    io::write_npy(path, t, io::order::fortran);
    BOOST_TEST((content(path) == content(golden_file(name + "_fortran.npy"))));
    BOOST_TEST(identical(t, io::read_npy<T, row, column>(path)));
    BOOST_TEST(folder.count() == 1);  // nothing is left of the name meanwhile
  }
}

/// A file of version 1 with this header and so many bytes of elements.
std::string file_of(std::string header, std::size_t bytes) {
  header += '\n';
  const char length[] = {static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  return std::string("\x93NUMPY\x01\x00", 8) + std::string(length, 2) + header + std::string(bytes, '\0');
}
std::string refused(const std::string& file) {
  return refusal("bad.npy", [&] { io::npy_file(bytes_of(file), "bad.npy"); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(io_npy)

BOOST_AUTO_TEST_CASE(types_as_stored_and_wider) {
  check_type<float>("f4");
  check_type<float, double>("f4");
  check_type<double>("f8");
  check_type<f16>("f2");
  check_type<f16, float>("f2");
  check_type<f16, double>("f2");
  check_type<std::int64_t>("i8");
  check_type<std::int32_t>("i4");
  check_type<std::int32_t, std::int64_t>("i4");
  check_type<std::int16_t, std::int32_t>("i2");
  check_type<std::int8_t, std::int64_t>("i1");
  check_type<std::uint32_t, std::int64_t>("u4");
  check_type<std::uint16_t, std::int32_t>("u2");
  check_type<std::uint8_t, std::int32_t>("u1");
  check_type<bool>("b1");
}

BOOST_AUTO_TEST_CASE(shapes_and_versions) {
  BOOST_TEST((is_golden<float>(io::read_npy<float, row, column>(golden_file("version_2.npy")))));
  BOOST_TEST((is_golden<float>(io::read_npy<float, row, column>(golden_file("version_3.npy")))));
  BOOST_TEST((is_golden<float>(io::read_npy<float, block, row, column>(golden_file("three_axes_fortran.npy")))));
  const tensor<float, any_row> line = io::read_npy<float, any_row>(golden_file("one_axis.npy"));
  BOOST_TEST(line.extent<any_row>() == 5);
  BOOST_TEST(is_golden<float>(line));
  BOOST_TEST(io::read_npy<float>(golden_file("scalar.npy"))() == -3.F);
  const tensor<float, any_row, column> empty = io::read_npy<float, any_row, column>(golden_file("empty.npy"));
  BOOST_TEST(empty.extent<any_row>() == 0);
  const io::npy_file file(golden_file("f4_fortran.npy"));
  BOOST_TEST((file.shape() == std::vector<extent_t>{3, 4}));
  BOOST_TEST(file.type() == "<f4");
}

BOOST_AUTO_TEST_CASE(written_as_numpy_writes) {
  check_bytes<float>("f4");
  check_bytes<double>("f8");
  check_bytes<f16>("f2");
  check_bytes<std::int64_t>("i8");
  check_bytes<std::int32_t>("i4");
  check_bytes<bool>("b1");
  const temporary_folder folder;
  const auto path = folder / "written.npy";
  io::write_npy(path, golden_tensor<float, block, row, column>(), io::order::fortran);
  BOOST_TEST((content(path) == content(golden_file("three_axes_fortran.npy"))));
  tensor<float> scalar;
  scalar() = -3;
  io::write_npy(path, scalar);
  BOOST_TEST((content(path) == content(golden_file("scalar.npy"))));
  io::write_npy(path, tensor<float, any_row, column>{any_row{0}});
  BOOST_TEST((content(path) == content(golden_file("empty.npy"))));
}

BOOST_AUTO_TEST_CASE(views_with_strides_are_written_in_their_order) {
  const temporary_folder folder;
  const auto path = folder / "written.npy";
  const auto t = golden_tensor<float, row, column>();
  const view<const float, column, row> turned(t.data(), strides{1, 4});
  for (const io::order order : {io::order::c, io::order::fortran}) {
    io::write_npy(path, turned, order);
    const tensor<float, column, row> back = io::read_npy<float, column, row>(path);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 4; ++j) BOOST_TEST(back(j, i) == t(i, j));
  }
}

BOOST_AUTO_TEST_CASE(another_shape_or_type_than_wanted) {
  const std::string path = golden_file("f4.npy");
  const auto says = [&](auto action) { return refusal(path, action); };
  const io::npy_file file(path);
  BOOST_TEST(says([&] { (void)file.read<float, column, row>(); }) ==
             "wanted (column 4, row 3), found [3, 4]: it is the wanted shape transposed");
  BOOST_TEST(says([&] { (void)file.read<float, any_row, column>(any_row{5}); }) ==
             "wanted (any_row 5, column 4), found [3, 4]");
  BOOST_TEST(says([&] { (void)file.read<float, any_row>(); }) == "wanted (any_row), found [3, 4]");
  BOOST_TEST(says([&] { (void)file.read<float>(); }) == "wanted (), found [3, 4]");
  BOOST_TEST(says([&] { (void)file.read<std::int32_t, row, column>(); }) ==
             "wanted elements of type int, found <f4, which does not become one without a loss");
  BOOST_TEST(says([&] { (void)file.read<f16, row, column>(); }).starts_with("wanted elements of type f16, found <f4"));
  const auto narrower = [&](const char* name, auto action) {
    BOOST_TEST(refusal(golden_file(name), [&] { action(io::npy_file(golden_file(name))); }).starts_with("wanted elem"));
  };
  narrower("f8.npy", [](const auto& f) { (void)f.template read<float, row, column>(); });
  narrower("i8.npy", [](const auto& f) { (void)f.template read<std::int32_t, row, column>(); });
  narrower("u4.npy", [](const auto& f) { (void)f.template read<std::int32_t, row, column>(); });
  narrower("u8.npy", [](const auto& f) { (void)f.template read<std::int64_t, row, column>(); });
  narrower("u1.npy", [](const auto& f) { (void)f.template read<bool, row, column>(); });
  narrower("i4.npy", [](const auto& f) { (void)f.template read<double, row, column>(); });
}

BOOST_AUTO_TEST_CASE(files_that_cannot_be_read) {
  const auto opened = [](const std::filesystem::path& path) {
    return refusal(path.string(), [&] { (void)io::npy_file(path); });
  };
  const temporary_folder folder;
  BOOST_TEST(opened(folder / "missing.npy") == "cannot be opened: No such file or directory");
  BOOST_TEST(opened(golden_file("")) == "is not a regular file");
  std::ofstream(folder / "void.npy").close();
  BOOST_TEST(opened(folder / "void.npy") == "is no .npy file: it does not begin with \\x93NUMPY");
  const std::string refused_type = "the .npy header says type '";
  BOOST_TEST(opened(golden_file("big_endian.npy")) ==
             refused_type + ">f4', which is big endian; only little endian is read");
  BOOST_TEST(opened(golden_file("complex.npy")) == refused_type + "<c8', which heed does not read");
  BOOST_TEST(opened(golden_file("structured.npy")) == "the .npy header says a structured type, which has no tensor");
}

BOOST_AUTO_TEST_CASE(truncated_and_too_long_files) {
  const std::string whole = content(golden_file("f4.npy"));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string text = refused(whole.substr(0, size));
    BOOST_TEST(text.starts_with(size < 6 ? "is no .npy file" : "is truncated: "), size << " bytes: " << text);
  }
  BOOST_TEST(refused(whole.substr(0, 150)) ==
             "is truncated: the shape [3, 4] of type <f4 asks for 48 bytes, but 22 follow the header");
  BOOST_TEST(refused(whole + "x") ==
             "is too long: the shape [3, 4] of type <f4 asks for 48 bytes, but 49 follow the header");
}

BOOST_AUTO_TEST_CASE(hostile_headers) {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  BOOST_TEST((io::npy_file(bytes_of(file_of(good, 8)), "good").shape() == std::vector<extent_t>{2}));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return refused(file_of(text.replace(text.find(from), from.size(), to), 8));
  };
  const std::string header = "the .npy header ";
  BOOST_TEST(with("(2,)", "(9223372036854775807, 2)") ==
             "the shape [9223372036854775807, 2] does not fit into 64 bits");
  BOOST_TEST(with("(2,)", "(0, 9223372036854775807, 2)").ends_with("does not fit into 64 bits"));
  // An empty tensor of this shape fits, but not as one of wider elements.
  BOOST_TEST(with("(2,)", "(0, 1280525401285254190)").ends_with("does not fit into 64 bits"));
  BOOST_TEST(with("(2,)", "(9223372036854775808,)") == header + "has an extent that does not fit into 64 bits");
  BOOST_TEST(with("(2,)", "(-2,)") == header + "has no whole number at '-2,), }'");
  BOOST_TEST(with("(2,)", "(2 3)") == header + "lacks a ',' before '3), }'");
  BOOST_TEST(with("(2,)", "(2,") == header + "has no whole number at ', }'");
  BOOST_TEST(with("(2,)", "[2]") == header + "lacks a '(' before '[2], }'");
  BOOST_TEST(with("False", "0").starts_with(header + "lacks a 'False' before '0,"));
  BOOST_TEST(with("'shape': (2,), ", "") == header + "must say 'descr', 'fortran_order' and 'shape'");
  BOOST_TEST(with("'fortran_order': False", "'descr': '<f4'") == header + "says 'descr' twice");
  BOOST_TEST(with("fortran_order", "order\n") == header + "has the unknown entry 'order?'");
  BOOST_TEST(with("'descr'", "'descr") == header + "lacks a ':' before '<f4', 'fortran_order'");
  BOOST_TEST(with("}", "} 1") == header + "goes on after its end, with '1'");
  BOOST_TEST(with("}", "") == header + "has no text in quotes at ''");
  BOOST_TEST(with("'<f4'", "''") == header + "says type '', which is none");
  BOOST_TEST(with("'<f4'", "'f4'") == header + "says type 'f4', which heed does not read");
  BOOST_TEST(with("'<f4'", "'|f4'") == header + "says type '|f4', which has no byte order");
  BOOST_TEST(with("'<f4'", "'!b1'") == header + "says type '!b1', which has no byte order");
  BOOST_TEST(with("'<f4'", "'<f4") == header + "says type '<f4, ', which heed does not read");
  BOOST_TEST(refused(file_of("", 8)) == header + "lacks a '{' before ''");
  std::string future = content(golden_file("f4.npy"));
  future[6] = 4;
  BOOST_TEST(refused(future) == ".npy version 4 is not read, only 1 to 3 are");
  std::string version_2 = content(golden_file("version_2.npy"));
  version_2[11] = '\x7f';
  BOOST_TEST(refused(version_2).starts_with("is truncated: the .npy header should have 21307"));
  // A truth value of another byte would be undefined behaviour.
  std::string truth = content(golden_file("b1.npy"));
  truth.back() = 2;
  const io::npy_file file(bytes_of(truth), "truth.npy");
  BOOST_TEST(refusal("truth.npy", [&] { (void)file.read<bool, row, column>(); }) ==
             "byte 11 of the elements is neither 0 nor 1, but their type is |b1");
}

BOOST_AUTO_TEST_CASE(files_that_cannot_be_written) {
  const temporary_folder folder;
  const auto t = golden_tensor<float, row, column>();
  const auto nowhere = folder / "no_folder/x.npy";
  BOOST_TEST(refusal(nowhere.string(), [&] { io::write_npy(nowhere, t); }) ==
             "cannot be written: No such file or directory");
  std::filesystem::create_directories(folder / "taken" / "by_a_folder");
  const auto taken = folder / "taken";
  BOOST_TEST(refusal(taken.string(), [&] { io::write_npy(taken, t); }).starts_with("cannot be written: "));
  BOOST_TEST(folder.count() == 1);  // the name meanwhile is gone again
}

BOOST_AUTO_TEST_SUITE_END()
