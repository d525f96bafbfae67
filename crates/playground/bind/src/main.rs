//! Writes the JavaScript through which a page calls a module of WebAssembly.

#![forbid(unsafe_code)]

use std::env;
use std::error::Error;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [module, folder] = arguments.as_slice() else { return Err("usage: playground-bind MODULE FOLDER".into()) };
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).web(true)?.typescript(false).generate(folder)?;
    Ok(())
}
