//! Compressed texts: gzip and xz, as benchmark sets are distributed.
//!
//! Both formats have checksums, so damaged data gives an error and not another text. `flate2` is the
//! gzip of cargo itself, here with its decoder in Rust; `lzma-rust2` is a port of the reference
//! decoder of xz, with a limit for the memory that a file may ask for. Neither needs a C library.
//!
//! Invariant: a text is never longer than [`MAX_TEXT_BYTES`], whatever a small file expands to.

use std::io::{Error, ErrorKind, Read, Result};

use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;

/// The first bytes of a file in the format gzip.
const GZIP: &[u8] = &[0x1f, 0x8b];
/// The first bytes of a file in the format xz.
const XZ: &[u8] = &[0xfd, b'7', b'z', b'X', b'Z', 0];

/// The longest text that compressed data may expand to: several times the largest known problem.
pub const MAX_TEXT_BYTES: u64 = 1 << 30;
/// The most memory that a file in the format xz may ask for, in KiB: that of `xz -9`, four times.
const MAX_DICTIONARY_KIB: u32 = 1 << 18;

/// The text in compressed data, or other data as they are. The format is known by its first bytes,
/// so that it does not depend on the file's name; no text of SMT-LIB begins with them.
///
/// # Errors
/// The data are damaged or end early, or the text would be longer than [`MAX_TEXT_BYTES`].
pub fn decompressed(data: Vec<u8>) -> Result<Vec<u8>> {
    let text = if data.starts_with(GZIP) {
        limited(MultiGzDecoder::new(&data[..]), MAX_TEXT_BYTES)
    } else if data.starts_with(XZ) {
        limited(
            XzReader::new_mem_limit(&data[..], true, MAX_DICTIONARY_KIB),
            MAX_TEXT_BYTES,
        )
    } else {
        return Ok(data);
    };
    text.map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => error,
        _ => Error::new(
            error.kind(),
            format!("the compressed data are damaged: {error}"),
        ),
    })
}

/// What a decoder returns, if it is no longer than the limit.
fn limited(decoder: impl Read, limit: u64) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut decoder = decoder.take(limit + 1);
    decoder.read_to_end(&mut text)?;
    match u64::try_from(text.len()) {
        Ok(length) if length <= limit => Ok(text),
        _ => Err(Error::new(
            ErrorKind::FileTooLarge,
            format!("the compressed text is longer than {limit} bytes"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    const TEXT: &[u8] = b"(set-logic HORN)\n(check-sat)\n";

    /// `TEXT`, compressed by xz.
    const TEXT_XZ: &[u8] = &[
        253, 55, 122, 88, 90, 0, 0, 4, 230, 214, 180, 70, 2, 0, 33, 1, 22, 0, 0, 0, 116, 47, 229,
        163, 1, 0, 28, 40, 115, 101, 116, 45, 108, 111, 103, 105, 99, 32, 72, 79, 82, 78, 41, 10,
        40, 99, 104, 101, 99, 107, 45, 115, 97, 116, 41, 10, 0, 0, 0, 0, 168, 20, 157, 169, 112,
        107, 41, 80, 0, 1, 53, 29, 68, 27, 177, 225, 31, 182, 243, 125, 1, 0, 0, 0, 0, 4, 89, 90,
    ];

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(text).expect("memory");
        encoder.finish().expect("memory")
    }

    #[test]
    fn compressed_texts_are_read() {
        for data in [TEXT.to_vec(), gzip(TEXT), TEXT_XZ.to_vec()] {
            assert_eq!(decompressed(data).expect("a text"), TEXT);
        }
        // Several parts in a file are one text.
        let twice = [TEXT, TEXT].concat();
        let parts = [gzip(TEXT), gzip(TEXT)].concat();
        assert_eq!(decompressed(parts).expect("a text"), twice);
        let parts = [TEXT_XZ, TEXT_XZ].concat();
        assert_eq!(decompressed(parts).expect("a text"), twice);
    }

    #[test]
    fn damaged_data_are_an_error() {
        for data in [gzip(TEXT), TEXT_XZ.to_vec()] {
            let short = data[..data.len() - 3].to_vec();
            assert!(decompressed(short).is_err());
            for at in 6..data.len() {
                let mut damaged = data.clone();
                damaged[at] ^= 0x55;
                // The header of gzip has bytes without meaning, such as the time.
                if let Ok(text) = decompressed(damaged) {
                    assert_eq!(text, TEXT, "byte {at}");
                }
            }
        }
    }

    #[test]
    fn small_files_cannot_become_arbitrarily_long() {
        let bomb = gzip(&vec![0; 3_000_000]);
        assert!(bomb.len() < 5_000);
        let error = limited(MultiGzDecoder::new(&bomb[..]), 2_999_999);
        let error = error.expect_err("too long");
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        let text = limited(MultiGzDecoder::new(&bomb[..]), 3_000_000);
        assert_eq!(text.expect("short enough").len(), 3_000_000);
    }
}
