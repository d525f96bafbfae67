//! Marks of parameters that a program writes as often as it has values: `strings.Repeat(", ?", n)`.

use super::expression::Piece;

/// What such a part is called among the parts that only the running program knows.
pub(super) const MARKS: &str = "\u{0}marks";

/// How often one item has a mark, where a text is nothing but marks with commas, brackets and blanks.
pub(super) fn repeated(pieces: &[Piece]) -> Option<usize> {
    let mut marks = 0;
    let mut is_open = false;
    for piece in pieces {
        match piece {
            // The number behind `$`.
            Piece::Hole { .. } if is_open => is_open = false,
            Piece::Hole { path, .. } if path == MARKS => marks += 1,
            Piece::Hole { .. } | Piece::List { .. } | Piece::Choice { .. } => return None,
            Piece::Known { text, .. } => {
                // What `Sprintf` and `format!` fill in behind `$` stands in the text of a closure as it is written.
                let text = text.replace("$%d", "$1").replace("${}", "$1");
                if text.chars().any(|c| !"?$,() 0123456789\n\t".contains(c)) && !is_number_in_braces(&text) {
                    return None;
                }
                marks += text.matches(['?', '$']).count();
                is_open = text.ends_with(['$', '?']);
            }
        }
    }
    (marks > 0).then_some(marks)
}

/// `${i}`: a mark with the number of a variable.
fn is_number_in_braces(text: &str) -> bool {
    let name = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    name.is_some_and(|name| name.chars().all(|c| c.is_alphanumeric() || "_+ ".contains(c)))
}

/// Whether this is a list of marks already.
pub(super) fn is_list(pieces: &[Piece]) -> bool {
    matches!(pieces, [Piece::Hole { path, .. }] if path == MARKS)
}

/// The list of such marks.
pub(super) fn hole(pieces: &[Piece]) -> Piece {
    let code = pieces.iter().map(Piece::code).collect();
    let place = pieces.first().map_or(0..0, |piece| piece.place().clone());
    Piece::Hole { path: MARKS.to_owned(), code, place }
}
