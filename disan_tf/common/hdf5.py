"""Visits the arrays of an HDF5 file; refuses links to other files."""

from collections.abc import Iterator

import h5py

MOST_LINKS, DEEPEST = 100_000, 64  # of an HDF5 file; our largest has a few hundred, in 8 levels


def datasets(file: h5py.File) -> Iterator[h5py.Dataset]:
    """Yields all arrays of a file. A group that is linked several times is visited once.

    Raises ValueError for links to other files, and above `MOST_LINKS` links or `DEEPEST` levels.
    """
    groups, seen, count = [(file, 1)], {_address(file)}, 0
    while groups:
        group, depth = groups.pop()
        for name in group:
            count += 1
            if count > MOST_LINKS or depth > DEEPEST:
                raise ValueError(f"it has more than {MOST_LINKS:,} links or {DEEPEST} levels")
            if not isinstance(group.get(name, getlink=True), h5py.HardLink):
                raise ValueError(f"{group.name}/{name} is a link")
            item = group[name]
            if isinstance(item, h5py.Dataset):
                if item.external or item.is_virtual:
                    raise ValueError(f"{item.name} is in another file")
                yield item
            elif not isinstance(item, h5py.Group):
                raise ValueError(f"{item.name} is no array")
            elif _address(item) not in seen:
                seen.add(_address(item))
                groups.append((item, depth + 1))


def _address(group: h5py.Group) -> int:
    return h5py.h5o.get_info(group.id).addr
