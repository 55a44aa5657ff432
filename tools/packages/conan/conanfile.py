# SPDX-License-Identifier: BSL-1.0
"""Conan 2: `conan create tools/packages/conan` packages the checkout that this file lies in."""
import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.files import copy, load


class HeedConan(ConanFile):
    name = "heed"
    description = "Attention as typed tensor expressions over named axes, run as fused SIMD loops"
    license = "BSL-1.0"
    topics = ("attention", "simd", "expression-templates", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    no_copy_source = True

    def _checkout(self):
        return os.path.join(self.recipe_folder, "..", "..", "..")

    def set_version(self):
        text = load(self, os.path.join(self._checkout(), "include", "heed", "version.hpp"))
        self.version = ".".join(re.findall(r"#define HEED_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text))

    def export_sources(self):
        copy(self, "include/heed/*.hpp", self._checkout(), self.export_sources_folder)
        copy(self, "LICENSE", self._checkout(), self.export_sources_folder)

    def requirements(self):
        self.requires("boost/[>=1.74]", options={"header_only": True}, transitive_headers=True)
        self.requires("xsimd/[>=8.1]", transitive_headers=True)

    def package_id(self):
        self.info.clear()

    def validate(self):
        check_min_cppstd(self, 20)

    def package(self):
        copy(self, "*.hpp", os.path.join(self.source_folder, "include"), os.path.join(self.package_folder, "include"))
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        self.cpp_info.set_property("cmake_file_name", "heed")
        self.cpp_info.set_property("cmake_target_name", "heed::heed")
        if self.settings.os != "Windows":
            self.cpp_info.cxxflags = ["-fopenmp"]
            self.cpp_info.sharedlinkflags = self.cpp_info.exelinkflags = ["-fopenmp"]
