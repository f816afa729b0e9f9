// Python programs for tests, each in a virtual environment of its own.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

interface PythonPackage {
  /** The folder of the virtual environment. Another version needs another folder. */
  home: string;
  /** Arguments of `pip install`, such as `ministack==1.5.33`. */
  requirements: string[];
  /** Changes the installed packages. */
  patch?(python: string): void;
}

/** Installs the packages if they are missing. Returns the reason if that is not possible. */
export function installPackages({ home, requirements, patch }: PythonPackage): string | undefined {
  if (existsSync(home)) return undefined;
  if (spawnSync("python3", ["--version"]).status !== 0) return "there is no python3";
  const partial = `${home}.part`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(dirname(home), { recursive: true });
  if (!runQuietly("python3", ["-m", "venv", partial]))
    return "python3 cannot make a virtual environment";
  const python = join(partial, "bin/python");
  const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1"];
  if (!runQuietly(python, [...pip, ...requirements]))
    return `pip cannot install ${requirements.join(" ")}`;
  patch?.(python);
  renameSync(partial, home);
  return undefined;
}

const runQuietly = (command: string, given: string[]): boolean =>
  spawnSync(command, given, { stdio: "ignore", timeout: 90_000 }).status === 0;
