// Creates contacts one by one, 100 per request and from files, and measures the memory that files
// need.
import * as clock from "../../../shared/clock.ts";
import { type Measurement, measure } from "./measure.ts";
import { type MeasuredService, startMeasuredService } from "./measured-service.ts";
import { type BenchOrganization, createOrganizations } from "./organizations.ts";
import { atMost, type BenchRow, formatNumber, formatPerSecond, showProgress } from "./report.ts";

const callers = 8;
const singlesEach = 100;
const bulksEach = 10;
const perBulk = 100;

/** `sizes` are numbers of rows in a file. */
export async function run(sizes: number[]): Promise<BenchRow[]> {
  const service = await startMeasuredService();
  try {
    const all = await createOrganizations(service, callers);
    const one = all[0]!;
    const singles = await measureContacts(service, callers * singlesEach, () =>
      Promise.all(all.map(createOneByOne)),
    );
    const bulk = await measureContacts(service, callers * bulksEach * perBulk, () =>
      Promise.all(all.map(createInBulk)),
    );
    const listId = await one.create("/lists", { name: "News" });
    const files: ImportRun[] = [];
    for (const size of sizes) files.push(await importFile(service, one, { file: createCsv(size) }));
    const first = files[0]!;
    const grouped = await importFile(service, one, {
      query: `?tags=all&lists=${listId}`,
      file: createCsv(first.file.rows),
    });
    const again = await importFile(service, one, { file: first.file });
    return [
      ...toRows("one by one", singles, { name: "POST /api/v1/contacts", maxWrites: 7.5 }),
      ...toRows("in bulk", bulk, { name: "POST /api/v1/contacts/bulk", maxWrites: 5 }),
      ...files.flatMap(({ file, run }) =>
        toRows(`from a file of ${formatNumber(file.rows)}`, run, {
          name: "jobs",
          maxWrites: 4.2,
        }),
      ),
      ...toRows("from a file, with a tag and a list", grouped.run, {
        name: "jobs",
        maxWrites: 6.4,
      }),
      ...toRows("from the same file again", again.run, { name: "jobs", maxWrites: 0.1 }),
      ...files.map(memoryRow),
    ];
  } finally {
    await service.stop();
  }
}

interface ContactRun extends Measurement {
  contacts: number;
}

const measureContacts = async (
  service: MeasuredService,
  contacts: number,
  work: () => Promise<unknown>,
): Promise<ContactRun> => ({ contacts, ...(await measure(service, work)) });

let nextPerson = 0;
const person = (i: number) => ({
  email: `person${i}@mail${i % 40}.example`,
  firstName: `Ada ${i}`,
  lastName: "Example",
  company: `Mill ${i % 1000}`,
});

async function createOneByOne({ call }: BenchOrganization) {
  for (let i = 0; i < singlesEach; i++) await call("POST", "/contacts", person(nextPerson++));
}

async function createInBulk({ call }: BenchOrganization) {
  for (let i = 0; i < bulksEach; i++)
    await call("POST", "/contacts/bulk", {
      contacts: Array.from({ length: perBulk }, () => person(nextPerson++)),
    });
}

interface CsvFile {
  rows: number;
  text: string;
}

function createCsv(rows: number): CsvFile {
  const lines = Array.from({ length: rows }, () => Object.values(person(nextPerson++)).join(","));
  return { rows, text: `email,firstName,lastName,company\n${lines.join("\n")}\n` };
}

interface ImportRun {
  run: ContactRun;
  file: CsvFile;
  /** Peak bytes in use during the import, beyond those before it. */
  memory: number;
}

interface ImportProgress {
  id: number;
  status: string;
  processed: number;
  created: number;
  updated: number;
}

async function importFile(
  service: MeasuredService,
  { call, request }: BenchOrganization,
  { query = "", file }: { query?: string; file: CsvFile },
): Promise<ImportRun> {
  const { rows, text } = file;
  await service.waitUntilIdle();
  // The local object store holds the file in memory.
  const before = (await service.query("heapInUse")) + text.length;
  let memory = 0;
  const run = await measureContacts(service, rows, async () => {
    const { id } = (
      await request<ImportProgress>({
        method: "POST",
        path: `/imports/upload${query}`,
        body: text,
        headers: { "content-type": "text/csv" },
      })
    ).data;
    for (let status = ""; status !== "completed"; ) {
      const { data } = await call<ImportProgress>("GET", `/imports/${id}`);
      ({ status } = data);
      if (status === "failed") throw new Error(`The import failed: ${JSON.stringify(data)}`);
      memory = Math.max(memory, (await service.query("heapInUse")) - before);
      showProgress(`a file of ${formatNumber(rows)} contacts`, data.processed, rows);
      await clock.sleep(300);
    }
  });
  return { run, memory, file };
}

const toRows = (
  label: string,
  { contacts, seconds, units, cpu }: ContactRun,
  /** `name` is the route or worker whose units count. */
  { name, maxWrites }: { name: string; maxWrites: number },
): BenchRow[] => {
  const { readUnits = 0, writeUnits = 0 } = units[name] ?? {};
  return [
    {
      what: label,
      value: formatPerSecond(contacts / seconds),
      note:
        `${formatNumber(contacts)} contacts in ${formatNumber(seconds)} s, ` +
        `${formatNumber(cpu.cpu / contacts)} ms of CPU each`,
    },
    {
      what: `${label}: write units per contact`,
      value: formatNumber(writeUnits / contacts),
      aim: atMost(maxWrites, writeUnits / contacts),
      note: `${formatNumber(readUnits / contacts)} read units`,
    },
  ];
};

/**
 * The memory of an import must not depend on the number of rows. The bound is absolute, because a
 * short file needs only a few megabytes, so a ratio to it would mostly compare caches.
 */
const maxImportMemory = 16e6;

const memoryRow = ({ file, memory }: ImportRun): BenchRow => ({
  what: `from a file of ${formatNumber(file.rows)}: memory`,
  value: `${formatNumber(memory / 1e6)} MB`,
  aim: atMost(maxImportMemory / 1e6, memory / 1e6, "MB"),
  note: "at most in use beyond that before the import",
});
