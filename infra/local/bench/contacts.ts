// Contacts made one by one, a hundred to a request, and from files; and what a file ten times as long asks of memory.
import * as clock from "../../../shared/clock.ts";
import { type Organization, organizations } from "./callers.ts";
import { atMost, number, perSecond, progress, type Row } from "./report.ts";
import { type Measured, measured, type Spent } from "./service.ts";

const callers = 8;
const singlesEach = 100;
const bulksEach = 10;
const perBulk = 100;

/** `sizes` are those of files. */
export async function run(sizes: number[]): Promise<Row[]> {
  const service = await measured();
  try {
    const all = await organizations(service, callers);
    const one = all[0]!;
    const singles = await timed(service, callers * singlesEach, () => Promise.all(all.map(singly)));
    const bulk = await timed(service, callers * bulksEach * perBulk, () => Promise.all(all.map(inBulk)));
    const { id } = (await one.call<{ id: number }>("POST", "/lists", { name: "News" })).data;
    const files: Imported[] = [];
    for (const size of sizes) files.push(await imported(service, one, "", fileOf(size)));
    const first = files[0]!;
    const grouped = await imported(service, one, `?tags=all&lists=${id}`, fileOf(first.file.rows));
    const again = await imported(service, one, "", first.file);
    return [
      ...rowsOf("one by one", singles, "POST /api/v1/contacts", 7.5),
      ...rowsOf("in bulk", bulk, "POST /api/v1/contacts/bulk", 5),
      ...files.flatMap((each) => rowsOf(`from a file of ${number(each.file.rows)}`, each.timed, "import", 4.2)),
      ...rowsOf("from a file, with a tag and a list", grouped.timed, "import", 6.4),
      ...rowsOf("from the same file again", again.timed, "import", 0.1),
      ...files.slice(1).map((each) => memoryRow(first, each)),
    ];
  } finally {
    await service.stop();
  }
}

interface Timed {
  contacts: number;
  seconds: number;
  spent: Record<string, Spent>;
  /** CPU time of the service, milliseconds. */
  cpu: number;
}

async function timed(service: Measured, contacts: number, work: () => Promise<unknown>): Promise<Timed> {
  await service.quiet();
  service.spent();
  const before = await service.ask("cost");
  const began = performance.now();
  await work();
  const seconds = (performance.now() - began) / 1000;
  await service.quiet();
  return { contacts, seconds, spent: service.spent(), cpu: (await service.ask("cost")).cpu - before.cpu };
}

let people = 0;
const person = (i: number) => ({
  email: `person${i}@mail${i % 40}.example`,
  firstName: `Ada ${i}`,
  lastName: "Example",
  company: `Mill ${i % 1000}`,
});

async function singly({ call }: Organization) {
  for (let i = 0; i < singlesEach; i++) await call("POST", "/contacts", person(people++));
}

async function inBulk({ call }: Organization) {
  for (let i = 0; i < bulksEach; i++)
    await call("POST", "/contacts/bulk", { contacts: Array.from({ length: perBulk }, () => person(people++)) });
}

interface File {
  rows: number;
  text: string;
}

function fileOf(rows: number): File {
  const lines = Array.from({ length: rows }, () => Object.values(person(people++)).join(","));
  return { rows, text: `email,firstName,lastName,company\n${lines.join("\n")}\n` };
}

interface Imported {
  timed: Timed;
  file: File;
  /** The most that was in use while it was worked on, beyond what was before; bytes. */
  memory: number;
}

interface Progress {
  id: number;
  status: string;
  processed: number;
  created: number;
  updated: number;
}

async function imported(service: Measured, { call }: Organization, query: string, file: File): Promise<Imported> {
  const { rows, text } = file;
  await service.quiet();
  // The object store of one machine holds the file in memory.
  const before = (await service.ask("live")) + text.length;
  let memory = 0;
  const result = await timed(service, rows, async () => {
    const { id } = (await call<Progress>("POST", `/imports/upload${query}`, text, { "content-type": "text/csv" })).data;
    for (let status = ""; status !== "completed"; ) {
      const { data } = await call<Progress>("GET", `/imports/${id}`);
      ({ status } = data);
      if (status === "failed") throw new Error(`The import failed: ${JSON.stringify(data)}`);
      memory = Math.max(memory, (await service.ask("live")) - before);
      progress(`a file of ${number(rows)} contacts`, data.processed, rows);
      await clock.sleep(300);
    }
  });
  return { timed: result, memory, file };
}

const rowsOf = (how: string, { contacts, seconds, spent, cpu }: Timed, name: string, aim: number): Row[] => {
  const { readUnits = 0, writeUnits = 0 } = spent[name] ?? {};
  return [
    {
      what: how,
      value: perSecond(contacts / seconds),
      note: `${number(contacts)} contacts in ${number(seconds)} s, ${number(cpu / contacts)} ms of CPU each`,
    },
    {
      what: `${how}: write units per contact`,
      value: number(writeUnits / contacts),
      aim: atMost(aim, writeUnits / contacts),
      note: `${number(readUnits / contacts)} read units`,
    },
  ];
};

const memoryRow = (short: Imported, long: Imported): Row => ({
  what: `memory: a file of ${number(long.file.rows)} to one of ${number(short.file.rows)}`,
  value: number(long.memory / short.memory),
  aim: atMost(2, long.memory / short.memory),
  note: `at most ${number(long.memory / 1e6)} MB in use to ${number(short.memory / 1e6)} MB`,
});
