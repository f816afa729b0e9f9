// Builds infra/local/Dockerfile without Docker and without a registry of images: buildah runs its
// instructions, on Debian from debootstrap with Node.js and npm of this machine.
import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { waitFor } from "../support/wait-for.ts";

const project = fileURLToPath(new URL("../..", import.meta.url));
const certificates = "/etc/ssl/certs/ca-certificates.crt";

export interface Image {
  /** The folder with the files of the image. */
  root: string;
  config: {
    User: string;
    Env: string[];
    WorkingDir: string;
    Cmd: string[];
    Healthcheck: { Test: string[] };
  };
}

const run = (command: string, args: string[]): string =>
  execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }).trim();

/** Builds the image below this folder. */
export function buildImage(folder: string): Image {
  const buildah = (...args: string[]) =>
    run("buildah", [`--root=${folder}/storage`, `--runroot=${folder}/run`, ...args]);
  const container = buildah("from", "scratch");
  buildah("add", "--quiet", container, createBase(join(folder, "base")));
  // npm needs the certificates of this machine if a proxy has its own.
  buildah("config", "--env", `NODE_EXTRA_CA_CERTS=${certificates}`, container);
  buildah("commit", "--quiet", "--rm", container, "docker.io/library/node:24-slim");
  const file = join(project, "infra/local/Dockerfile");
  const root = join(folder, "root");
  buildah(
    ...["build", "--quiet", "--format=docker", "--isolation=chroot", "--pull-never"],
    ...["--layers=false", "--tag=pennymail", `--output=type=local,dest=${root}`],
    ...[`--file=${file}`, `--ignorefile=${file}.dockerignore`],
    // With the packages that npm has already downloaded on this machine.
    `--volume=${run("npm", ["config", "get", "cache"])}:/root/.npm`,
    project,
  );
  chmodSync(root, 0o755);
  const image = JSON.parse(buildah("inspect", "--type=image", "pennymail"));
  return { root, config: image.Docker.config };
}

/** Makes what the official image has: Debian, Node.js with npm, and the user `node`. */
function createBase(folder: string): string {
  run("debootstrap", ["--variant=minbase", "bookworm", folder]);
  run("chroot", [folder, "useradd", "--uid=1000", "--create-home", "node"]);
  const programs = join(folder, "usr/local/bin");
  copyFileSync(process.execPath, join(programs, "node"));
  const modules = join(folder, "usr/local/lib/node_modules");
  cpSync(join(run("npm", ["root", "--global"]), "npm"), join(modules, "npm"), { recursive: true });
  for (const name of ["npm", "npx"])
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(programs, name));
  if (existsSync(certificates)) {
    mkdirSync(dirname(join(folder, certificates)), { recursive: true });
    copyFileSync(certificates, join(folder, certificates));
  }
  return folder;
}

/** The arguments of `chroot` for a command of a container. */
const chrootArguments = ({ root, config }: Image, env: string[], command: string[]): string[] => [
  `--userspec=${config.User}`,
  root,
  ...["env", "--ignore-environment", `--chdir=${config.WorkingDir}`, "HOME=/home/node"],
  ...[...config.Env, ...env, ...command],
];

export interface Container {
  /** Its process 1. */
  pid: number;
  /** Resolves with the exit code, or null after a signal. */
  ended: Promise<number | null>;
  /** Runs a command in it, as `docker exec` does. */
  execute(command: string[]): Promise<{ code: number | null; output: string }>;
}

/**
 * Starts the command of the image as process 1, on a file system that is read-only except /data,
 * /backups and /tmp, as compose.yaml does.
 */
export async function startContainer(image: Image, env: string[]): Promise<Container> {
  const prepare = `
    mount --bind "$1" "$1"
    for folder in data backups; do mount --bind "$1/$folder" "$1/$folder"; done
    mount --options remount,bind,ro "$1"
    mount --types tmpfs tmpfs "$1/tmp"
    mount --types proc proc "$1/proc"
    mount --bind /dev "$1/dev"
    shift
    exec setpriv --no-new-privs chroot "$@"`;
  const namespaces = spawn(
    "unshare",
    [
      ...["--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", prepare, "sh", image.root],
      ...chrootArguments(image, env, image.config.Cmd),
    ],
    { stdio: ["ignore", "inherit", "inherit"] },
  );
  const ended = new Promise<number | null>((resolve) => namespaces.once("close", resolve));
  const pid = await waitFor(() => onlyChildOf(namespaces.pid!));
  const execute = async (command: string[]) => {
    const enter = [`--target=${pid}`, "--mount", "--pid", "chroot"];
    const child = spawn("nsenter", [...enter, ...chrootArguments(image, env, command)], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [output, errors, code] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      new Promise<number | null>((resolve) => child.once("close", resolve)),
    ]);
    return { code, output: output + errors };
  };
  return { pid, ended, execute };
}

/** Throws if there is none. */
function onlyChildOf(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  if (!children) throw new Error(`Process ${pid} has no child`);
  return Number(children);
}
