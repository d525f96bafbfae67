# Does with a formula what Homebrew does on this machine: takes the archive, compares its digest, unpacks, installs, tests.
#
# Usage: formula.rb FORMULA FOLDER
require "digest"
require "fileutils"
require "pathname"
require "rbconfig"

class Formula
  OS = RbConfig::CONFIG["host_os"].start_with?("darwin") ? :macos : :linux
  CPU = RbConfig::CONFIG["host_cpu"].match?(/arm|aarch64/) ? :arm : :intel

  class << self
    %i[desc version license url sha256].each do |key|
      define_method(key) { |value = nil| value ? instance_variable_set("@#{key}", value) : instance_variable_get("@#{key}") }
    end
    { linux: OS, macos: OS, intel: CPU, arm: CPU }.each do |name, is|
      define_method("on_#{name}") { |&block| block.call if is == name }
    end

    def test(&block)
      block ? @test = block : @test
    end
  end

  class Bin < Pathname
    def install(file)
      mkpath
      FileUtils.mv(file, self)
    end
  end

  attr_reader :bin, :testpath

  def initialize(folder)
    @bin = Bin.new(folder) / "bin"
    @bin = Bin.new(@bin.to_s)
    @testpath = Pathname.new(folder) / "test"
    @testpath.mkpath
  end

  def shell_output(command)
    output = Dir.chdir(testpath) { `#{command}` }
    raise "#{command}: #{$?}\n#{output}" unless $?.success?

    output
  end

  def assert_match(expected, actual)
    raise "no #{expected.inspect} in #{actual.inspect}" unless actual.include?(expected)
  end
end

formula, folder = ARGV
load formula
archive = CargoDiglot.url.delete_prefix("file://")
digest = Digest::SHA256.file(archive).hexdigest
raise "the formula says #{CargoDiglot.sha256}, the archive has #{digest}" unless digest == CargoDiglot.sha256

unpacked = File.join(folder, "unpacked")
FileUtils.mkdir_p(unpacked)
system("tar", "-xzf", archive, "-C", unpacked, exception: true)
made = CargoDiglot.new(folder)
# Homebrew goes into the only folder of an archive.
Dir.chdir(Dir.glob("#{unpacked}/*").fetch(0)) { made.install }
made.instance_eval(&CargoDiglot.test)
