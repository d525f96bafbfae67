//! Where a key stands in the text of the configuration.

/// Where a key stands in the text; the start when it is not found.
pub(super) fn key_offset(text: &str, key: &str) -> usize {
    let (mut offset, mut header) = (0, 0);
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let bare = trimmed.trim_start_matches(['"', '\'']);
        if let Some(rest) = bare.strip_prefix(key)
            && rest.trim_start_matches(['"', '\'']).trim_start().starts_with(['=', '.'])
        {
            return offset + (line.len() - trimmed.len());
        }
        if trimmed.strip_prefix('[').and_then(|rest| rest.strip_prefix(key)).is_some_and(|rest| rest.starts_with(']')) {
            header = offset;
        }
        offset += line.len();
    }
    match key.rsplit_once('.') {
        // A table may be written in one line, below the one that it is in.
        Some((_, last)) if header == 0 => key_offset(text, last),
        _ => header,
    }
}
