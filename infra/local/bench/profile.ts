// Where the time of the service goes while it takes and hands over mail: V8's CPU profile, in groups and by function.
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as batch from "./batch.ts";
import { organization, organizations } from "./callers.ts";
import * as inbound from "./inbound.ts";
import { number, progress, type Row } from "./report.ts";
import { type Measured, measured } from "./service.ts";
import * as single from "./single.ts";

export async function run(): Promise<Row[]> {
  const service = await measured();
  try {
    return [...(await batchRows(service)), ...(await singleRows(service)), ...(await inboundRows(service))];
  } finally {
    await service.stop();
  }
}

async function batchRows(service: Measured): Promise<Row[]> {
  const caller = await organization(service);
  const bodies = batch.bodiesOf({ templateId: caller.templateId, sendingConfigId: caller.configId });
  await batch.sendAll(service, caller, bodies, "warming up");
  return profiled(service, "batch", async () => (await batch.sendAll(service, caller, bodies, "10 batches under the profiler")).mails);
}

async function singleRows(service: Measured): Promise<Row[]> {
  progress("20 organizations sign up");
  const callers = await organizations(service, 20);
  return profiled(service, "single", async () => (await single.sendAll(service, callers, "single mails under the profiler")).mails);
}

async function inboundRows(service: Measured): Promise<Row[]> {
  const scene = await inbound.sceneOf(service);
  const events = 10_000;
  const parcels = inbound.parcelsOf(scene, await inbound.sentMails(scene)(events), 1000);
  progress("10 calls with 1,000 events under the profiler");
  return profiled(service, "events", async () => {
    await inbound.bring(scene, parcels, events);
    return events;
  });
}

async function profiled(service: Measured, name: string, work: () => Promise<number>): Promise<Row[]> {
  const file = join(tmpdir(), `pennymail-${name}.cpuprofile`);
  const [{ cpu }, began] = [await service.ask("cost"), performance.now()];
  await service.ask("profile");
  const n = await work();
  const [cost, seconds] = [await service.ask("cost"), (performance.now() - began) / 1000];
  await service.ask("profiled", file);
  const times = selfTimes(JSON.parse(await readFile(file, "utf8")) as Profile);
  const total = [...times.groups.values()].reduce((sum, ms) => sum + ms, 0);
  const row = ([what, ms]: [string, number]): Row => ({ what: `${name}: ${what}`, value: microseconds(ms / n), note: share(ms / total) });
  return [
    { what: `${name}: CPU`, value: microseconds((cost.cpu - cpu) / n), note: `for each of ${number(n)}, in ${number(seconds)} s; ${file}` },
    ...largest(times.groups, 20).map(row),
    ...largest(times.functions, 20).map(([what, ms]) => row([`  ${what}`, ms])),
  ];
}

const microseconds = (ms: number): string => `${number(ms * 1000)} us`;
const share = (part: number): string => `${number(part * 100)} %`;
const largest = (times: Map<string, number>, n: number) => [...times].sort(([, a], [, b]) => b - a).slice(0, n);

/** What of V8's format is read here. Times in microseconds. */
interface Profile {
  nodes: ProfileNode[];
  samples: number[];
  timeDeltas: number[];
}
interface ProfileNode {
  id: number;
  callFrame: { functionName: string; url: string; lineNumber: number };
  children?: number[];
}

/** The first pattern that fits a file names its group. What Node does itself counts for whoever called it. */
const groups: [name: string, file: RegExp][] = [
  [
    "SQS, S3 and KMS of this machine (not there in the cloud)",
    /node_modules\/(fauxqs|fastify|@fastify|avvio|light-my-request|find-my-way|@smithy\/eventstream)|infra\/local\/(kms|queues)/,
  ],
  ["gateway and pollers of this machine (not there in the cloud)", /infra\/local\//],
  ["SDK: items to DynamoDB's JSON and back", /@aws-sdk\/(lib-dynamodb|util-dynamodb)/],
  [
    "SDK: requests by schema, JSON",
    /@smithy\/core\/.*(protocols|schema|serde|cbor)|@aws-sdk\/core\/.*protocols|@aws-sdk\/client-[^/]+\/.*schemas/,
  ],
  ["SDK: signing", /signature-v4|httpAuthSchemes|sigv4|hash-node|sha256|credential/i],
  ["SDK: HTTP client", /node-http-handler|querystring-builder/],
  ["SDK: middleware, endpoints, retries", /node_modules\/(@aws-sdk|@smithy)/],
  ["HTTP client of providers (undici)", /internal\/deps\/undici/],
  ["Liquid", /liquidjs|shared\/liquid/],
  ["HTML to text", /plain-text|html-to-text|selderee|htmlparser2|peberminta|parseley|leac|domhandler|deepmerge/],
  ["input checks (zod)", /node_modules\/zod/],
  ["edge (middy)", /node_modules\/@middy/],
  ["logs", /powertools|shared\/log\.ts/],
  ["provider adapters", /shared\/providers/],
  ["table door", /shared\/doors\/table/],
  ["our other code", /\/(shared|functions)\//],
  ["other packages", /node_modules/],
];
const unnamed = "Node: sockets, timers, HTTP parser";
const waiting = "waiting";
const states = new Map([
  ["(idle)", waiting],
  ["(program)", "V8 and the system"],
  ["(garbage collector)", "garbage collection"],
]);

function selfTimes({ nodes, samples, timeDeltas }: Profile) {
  const own = new Map<number, number>();
  for (const [i, id] of samples.entries()) own.set(id, (own.get(id) ?? 0) + timeDeltas[i]! / 1000);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const times = { groups: new Map<string, number>(), functions: new Map<string, number>() };
  const visit = (node: ProfileNode, caller: string) => {
    const { functionName } = node.callFrame;
    const group = states.get(functionName) ?? groupOf(node) ?? caller;
    const ms = own.get(node.id) ?? 0;
    if (group !== waiting) add(times.groups, group, ms);
    if (group !== waiting && !states.has(functionName)) add(times.functions, placeOf(node), ms);
    for (const child of node.children ?? []) visit(byId.get(child)!, group);
  };
  visit(nodes[0]!, unnamed);
  return times;
}

const add = (times: Map<string, number>, name: string, ms: number) => times.set(name, (times.get(name) ?? 0) + ms);
// Its own end is the profiler's doing.
const groupOf = ({ callFrame: { url } }: ProfileNode) =>
  url === "node:inspector" ? waiting : groups.find(([, file]) => file.test(url))?.[0];

const root = fileURLToPath(new URL("../../../", import.meta.url));

function placeOf({ callFrame: { functionName, url, lineNumber } }: ProfileNode): string {
  const file = url
    .replace(/^file:\/\//, "")
    .replace(root, "")
    .replace(/^.*node_modules\//, "");
  const short = file.length > 50 ? `…${file.slice(-49)}` : file;
  return `${functionName || "(anonymous)"}${short && ` ${short}:${lineNumber + 1}`}`;
}
