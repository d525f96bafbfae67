//! The entry for build scripts: reads the folders, compiles, writes the generated file when it changed.
