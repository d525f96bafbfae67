//! Which line faces which, and which words of two facing lines differ.

use std::collections::HashMap;

use super::paint::{Class, Piece};

/// The longest texts, as the product of their numbers of lines, that are aligned; longer ones stand line by line.
const LINES: usize = 4_000_000;
/// The longest lines, as the product of their numbers of words, that are compared word by word.
const WORDS: usize = 250_000;

/// Two facing lines, by their numbers; nothing where a page has no such line.
pub(super) type Facing = (Option<usize>, Option<usize>);

/// Brings two texts side by side, so that lines which have most in common face each other.
pub(super) fn lines(left: &[Vec<Piece<'_>>], right: &[Vec<Piece<'_>>]) -> Vec<Facing> {
    if left.len().saturating_mul(right.len()) > LINES {
        let at = |index: usize, length: usize| (index < length).then_some(index);
        return (0..left.len().max(right.len())).map(|i| (at(i, left.len()), at(i, right.len()))).collect();
    }
    let mut numbers = HashMap::new();
    let (ours, theirs) = (bags(left, &mut numbers), bags(right, &mut numbers));
    // best[i][j]: the most that the lines from i and from j on can have in common.
    let width = right.len() + 1;
    let mut best = vec![0_u32; (left.len() + 1) * width];
    let mut alike = vec![0_u32; left.len() * right.len()];
    for i in (0..left.len()).rev() {
        for j in (0..right.len()).rev() {
            let score = likeness(&ours[i], &theirs[j]);
            alike[i * right.len() + j] = score;
            let both = if score > 0 { best[(i + 1) * width + j + 1] + score } else { 0 };
            best[i * width + j] = both.max(best[(i + 1) * width + j]).max(best[i * width + j + 1]);
        }
    }
    let (mut i, mut j, mut facing) = (0, 0, Vec::new());
    while i < left.len() && j < right.len() {
        let score = alike[i * right.len() + j];
        let here = best[i * width + j];
        if score > 0 && here == best[(i + 1) * width + j + 1] + score {
            facing.push((Some(i), Some(j)));
            i += 1;
            j += 1;
        } else if here == best[(i + 1) * width + j] {
            facing.push((Some(i), None));
            i += 1;
        } else {
            facing.push((None, Some(j)));
            j += 1;
        }
    }
    facing.extend((i..left.len()).map(|i| (Some(i), None)));
    facing.extend((j..right.len()).map(|j| (None, Some(j))));
    facing
}

/// The words of a line, as sorted numbers with their weights.
struct Bag {
    words: Vec<(usize, u32)>,
    weight: u32,
}

fn bags(lines: &[Vec<Piece<'_>>], numbers: &mut HashMap<String, usize>) -> Vec<Bag> {
    let of = |line: &Vec<Piece<'_>>| {
        let mut words: Vec<(usize, u32)> = Vec::new();
        for piece in line.iter().filter(|piece| piece.class != Class::Space) {
            let next = numbers.len();
            let weight = if piece.class == Class::Symbol { 1 } else { 4 };
            words.push((*numbers.entry(piece.word()).or_insert(next), weight));
        }
        words.sort_unstable();
        let weight = words.iter().map(|word| word.1).sum();
        Bag { words, weight }
    };
    lines.iter().map(of).collect()
}

/// How much two lines have in common; nothing when that is less than a third.
fn likeness(left: &Bag, right: &Bag) -> u32 {
    if left.words.is_empty() && right.words.is_empty() {
        return 1;
    }
    let (mut i, mut j, mut common) = (0, 0, 0);
    while let (Some(a), Some(b)) = (left.words.get(i), right.words.get(j)) {
        if a.0 == b.0 {
            common += a.1;
            i += 1;
            j += 1;
        } else if a.0 < b.0 {
            i += 1;
        } else {
            j += 1;
        }
    }
    if common * 6 >= left.weight + right.weight { common } else { 0 }
}

/// Which pieces of two facing lines have no counterpart: one flag for each piece of either line.
pub(super) fn words(left: &[Piece<'_>], right: &[Piece<'_>], comments: bool) -> [Vec<bool>; 2] {
    let counts = |piece: &Piece<'_>| piece.speaks() || comments && piece.class == Class::Comment;
    let places = |line: &[Piece<'_>]| -> Vec<usize> { (0..line.len()).filter(|at| counts(&line[*at])).collect() };
    let (ours, theirs) = (places(left), places(right));
    let mut alone = [left, right].map(|line| line.iter().map(counts).collect::<Vec<bool>>());
    if ours.len().saturating_mul(theirs.len()) > WORDS {
        return alone;
    }
    let spelled =
        |line: &[Piece<'_>], places: &[usize]| -> Vec<String> { places.iter().map(|at| line[*at].word()).collect() };
    let (a, b) = (spelled(left, &ours), spelled(right, &theirs));
    let width = b.len() + 1;
    let mut best = vec![0_u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            best[i * width + j] = match a[i] == b[j] {
                true => best[(i + 1) * width + j + 1] + 1,
                false => best[(i + 1) * width + j].max(best[i * width + j + 1]),
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            alone[0][ours[i]] = false;
            alone[1][theirs[j]] = false;
            i += 1;
            j += 1;
        } else if best[(i + 1) * width + j] >= best[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    alone
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::paint;
    use diglot::dialect::Dialect;

    #[test]
    fn lines_that_have_most_in_common_face_each_other() {
        let left = paint::lines("SELECT id\n  FROM job\n WHERE id = :id", Dialect::Sqlite);
        let right = paint::lines("SELECT id\n  FROM job\n WHERE id = :id\n   FOR UPDATE", Dialect::Pg);
        let expected = [(Some(0), Some(0)), (Some(1), Some(1)), (Some(2), Some(2)), (None, Some(3))];
        assert_eq!(lines(&left, &right), expected);
    }

    #[test]
    fn every_line_stands_once_and_in_order() {
        let texts = ["", "a", "a\nb\nc", "c\nb\na", "\n\n", "x y\nx y\nx y"];
        for (left, right) in texts.iter().flat_map(|a| texts.iter().map(move |b| (a, b))) {
            let (a, b) = (paint::lines(left, Dialect::Pg), paint::lines(right, Dialect::Pg));
            let facing = lines(&a, &b);
            assert!(facing.iter().filter_map(|pair| pair.0).eq(0..a.len()), "{left:?} {right:?}");
            assert!(facing.iter().filter_map(|pair| pair.1).eq(0..b.len()), "{left:?} {right:?}");
        }
    }

    #[test]
    fn the_words_without_a_counterpart_are_told() {
        let left = paint::lines("AND a = max(b, 1) -- x", Dialect::Sqlite);
        let right = paint::lines("and a = greatest(b, 1)", Dialect::Pg);
        let [ours, theirs] = words(&left[0], &right[0], false);
        let told = |line: &[Piece<'_>], flags: &[bool]| -> String {
            line.iter().zip(flags).filter(|(_, alone)| **alone).map(|(piece, _)| piece.text).collect()
        };
        assert_eq!((told(&left[0], &ours).as_str(), told(&right[0], &theirs).as_str()), ("max", "greatest"));
    }
}
