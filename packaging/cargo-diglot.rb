# Made by scripts/dist.
class CargoDiglot < Formula
  desc "Checks that the SQLite and the Postgres version of your SQL mean the same"
  version "@version@"
  license "Apache-2.0"

@archives@

  def install
    bin.install "cargo-diglot"
  end

  test do
    (testpath/"diglot.toml").write "generate = false\n"
    assert_match "0 findings", shell_output("#{bin}/cargo-diglot check --allow-empty 2>&1")
  end
end
