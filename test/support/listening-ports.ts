// The TCP ports of a process, from /proc, which exists on Linux only.
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";

export const knowsPorts: boolean = existsSync("/proc/net/tcp");

/**
 * The ports on which a process and its descendants listen, in the network namespace of this process.
 */
export function listeningPorts(pid: number): number[] {
  const ports = new Map([...portsBySocket("/proc/net/tcp"), ...portsBySocket("/proc/net/tcp6")]);
  const own = withDescendants(pid).flatMap(socketsOf);
  return [...new Set(own.flatMap((socket) => ports.get(socket) ?? []))];
}

const listenState = "0A";

/** The lines have the local address, the state and the number of the socket, among others. */
function portsBySocket(file: string): [socket: string, port: number][] {
  const lines = readFileSync(file, "utf8").trim().split("\n").slice(1);
  return lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state]) => state === listenState)
    .map((fields) => [fields[9]!, Number.parseInt(fields[1]!.split(":").at(-1)!, 16)]);
}

export function withDescendants(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean),
  );
  return [pid, ...children.map(Number).flatMap(withDescendants)];
}

function socketsOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      const [, socket] = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? [];
      return socket ? [socket] : [];
    } catch {
      return []; // it was closed in the meantime
    }
  });
}
