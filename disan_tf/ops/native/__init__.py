"""C++ operations, compiled for the CPU that they run on."""
