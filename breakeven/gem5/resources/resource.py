"""Resources: files of this machine. Nothing is fetched from anywhere."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from breakeven.gem5.isas import ISA, get_isa_from_str
from breakeven.m5.absent import SAMPLES, WHOLE, absent_names


class AbstractResource:
    """A file or folder that a simulation uses."""

    def __init__(
        self,
        local_path: str | os.PathLike[str] | None = None,
        id: str | None = None,
        resource_version: str | None = None,
        description: str | None = None,
        source: str | None = None,
        **kwargs: Any,
    ) -> None:
        self._local_path = None if local_path is None else os.fspath(local_path)
        self._id = id
        self._version = resource_version
        self._description = description
        self._source = source

    def get_local_path(self) -> str | None:
        return self._local_path

    def get_id(self) -> str | None:
        return self._id

    def get_resource_version(self) -> str | None:
        return self._version

    def get_description(self) -> str | None:
        return self._description

    def get_source(self) -> str | None:
        return self._source

    def __str__(self) -> str:
        return f"{type(self).__name__}({self._local_path})"


class FileResource(AbstractResource):
    """One file; `FileNotFoundError` when it is not there."""

    def __init__(self, local_path: str | os.PathLike[str], **kwargs: Any) -> None:
        if not Path(local_path).is_file():
            raise FileNotFoundError(f"there is no file {os.fspath(local_path)!r} for the {type(self).__name__}")
        super().__init__(local_path=local_path, **kwargs)


class DirectoryResource(AbstractResource):
    """One folder; `FileNotFoundError` when it is not there."""

    def __init__(self, local_path: str | os.PathLike[str], **kwargs: Any) -> None:
        if not Path(local_path).is_dir():
            raise FileNotFoundError(f"there is no folder {os.fspath(local_path)!r} for the {type(self).__name__}")
        super().__init__(local_path=local_path, **kwargs)


class BinaryResource(FileResource):
    """A program. `architecture`: its instruction set, for scripts that ask."""

    def __init__(
        self, local_path: str | os.PathLike[str], architecture: Any = None, arguments: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(local_path, **kwargs)

        self._architecture = (
            architecture if architecture is None or isinstance(architecture, ISA) else get_isa_from_str(architecture)
        )

    def get_architecture(self) -> Any:
        return self._architecture


class KernelResource(BinaryResource):
    """A bare-metal program or kernel."""


class BootloaderResource(BinaryResource):
    """A boot loader."""


class CustomResource(FileResource):
    """A file under gem5's former name for it."""


CustomBinaryResource = BinaryResource


class WorkloadResource(AbstractResource):
    """A board's method by its name (``"set_se_binary_workload"``) with the parameters to call it with."""

    def __init__(self, function: str, parameters: dict[str, Any] | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._function = function
        self._parameters = dict(parameters or {})

    def get_function_str(self) -> str:
        return self._function

    def get_parameters(self) -> dict[str, Any]:
        return self._parameters

    def set_parameter(self, parameter: str, value: Any) -> None:
        self._parameters[parameter] = value


def obtain_resource(
    resource_id: str,
    resource_directory: str | None = None,
    download_md5_mismatch: bool = True,
    resource_version: str | None = None,
    clients: list[str] | None = None,
    gem5_version: str | None = None,
    to_path: str | None = None,
    quiet: bool = False,
) -> AbstractResource:
    """The local file that `resource_id` names: a path, or a name in `resource_directory`, in ``GEM5_RESOURCE_DIR`` or
    in the current folder. gem5 would fetch others from its server; here they are a `FileNotFoundError`."""
    folders = [resource_directory, os.environ.get("GEM5_RESOURCE_DIR"), "."]
    for folder in folders:
        path = Path(folder or ".", resource_id)
        if path.is_dir():
            return DirectoryResource(path, id=resource_id)
        if path.is_file():
            return BinaryResource(path, id=resource_id)
    raise FileNotFoundError(
        f"there is no file {resource_id!r}, and nothing is downloaded here: fetch the resource by hand and put it "
        "there, into the resource_directory, or into the folder that GEM5_RESOURCE_DIR names"
    )


Resource = obtain_resource

#: resources of gem5's that nothing here can use
__getattr__ = absent_names(
    "gem5.resources.resource",
    {
        **dict.fromkeys(("DiskImageResource", "CustomDiskImageResource", "GitResource"), WHOLE),
        **dict.fromkeys(("CheckpointResource", "SimpointResource", "SimpointDirectoryResource"), SAMPLES),
        **dict.fromkeys(("LooppointCsvResource", "LooppointJsonResource", "ELFieResource"), SAMPLES),
        "SuiteResource": "nothing is downloaded, and a suite is a list of downloads; name one program",
    },
)
