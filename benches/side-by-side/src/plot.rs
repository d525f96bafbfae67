//! Curves as a picture: rates against workers, both on scales where doubling is one step.

use std::fmt::Write as _;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
const MARGIN: f64 = 60.0;
const COLOURS: [&str; 3] = ["#b0413e", "#1f6f8b", "#8a8a8a"];

/// A name, and rates by the number of workers.
pub type Curve<'a> = (&'a str, Vec<(usize, f64)>);

/// Draws the curves with a line for every power of ten that they pass.
pub fn svg(title: &str, unit: &str, curves: &[Curve<'_>]) -> String {
    let points = || curves.iter().flat_map(|(_, points)| points);
    let most_workers = points().map(|(workers, _)| *workers).max().unwrap_or(1).max(2) as f64;
    let lowest = points().map(|(_, rate)| *rate).fold(f64::INFINITY, f64::min).max(1.0).log10().floor();
    let highest = points().map(|(_, rate)| *rate).fold(1.0, f64::max).log10().ceil().max(lowest + 1.0);
    let x = |workers: f64| MARGIN + workers.log2() / most_workers.log2() * (WIDTH - 2.0 * MARGIN);
    let y =
        |rate: f64| HEIGHT - MARGIN - (rate.max(1.0).log10() - lowest) / (highest - lowest) * (HEIGHT - 2.0 * MARGIN);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{MARGIN}\" y=\"28\" font-size=\"16\">{title}, {unit}</text>\n"
    );
    for power in lowest as i32..=highest as i32 {
        let (at, right) = (y(10_f64.powi(power)), WIDTH - MARGIN);
        let _ = writeln!(
            out,
            "<line x1=\"{MARGIN}\" y1=\"{at:.1}\" x2=\"{right}\" y2=\"{at:.1}\" stroke=\"#ddd\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            MARGIN - 6.0,
            at + 4.0,
            10_i64.pow(power.unsigned_abs()),
        );
    }
    for workers in curves.first().map(|(_, points)| points.as_slice()).unwrap_or_default().iter().map(|(n, _)| *n) {
        let (at, below) = (x(workers as f64), HEIGHT - MARGIN + 18.0);
        let _ = writeln!(out, "<text x=\"{at:.1}\" y=\"{below}\" text-anchor=\"middle\">{workers}</text>");
    }
    let _ = writeln!(out, "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">workers</text>", WIDTH / 2.0, HEIGHT - 16.0);
    for ((name, points), colour) in curves.iter().zip(COLOURS) {
        let path: Vec<String> =
            points.iter().map(|(workers, rate)| format!("{:.1},{:.1}", x(*workers as f64), y(*rate))).collect();
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            path.join(" ")
        );
        if let Some((workers, rate)) = points.last() {
            let (at, beside) = (y(*rate) + 4.0, x(*workers as f64) + 5.0);
            let _ = writeln!(out, "<text x=\"{beside:.1}\" y=\"{at:.1}\" fill=\"{colour}\">{name}</text>");
        }
    }
    out.push_str("</svg>\n");
    out
}
