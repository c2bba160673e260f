//! The front end's tests, one program: the front end, which is generic over its bus, is compiled once for `TestBus`.

mod avx512;
mod common;
mod front_end;
mod host;
