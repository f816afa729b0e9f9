// POST /send: 50 callers, each an organization of its own that sends one mail after the other.
import { address, inline, type Organization, organizations, variables } from "./callers.ts";
import { measuredRun, type Run, speedRows, tripRow, unitRows } from "./mails.ts";
import { median, milliseconds, progress, type Row } from "./report.ts";
import { type Measured, measured } from "./service.ts";

const callers = 50;
const mailsEach = 40;
const names: [string, string] = ["POST /api/v1/send", "send"];

export async function run(): Promise<Row[]> {
  const service = await measured();
  try {
    progress(`${callers} organizations sign up`);
    const all = await organizations(service, callers);
    const alone = await aloneRows(service, all[0]!);
    const templated = await sendAll(service, all, "single mails by template");
    const inlined = await sendAll(service, all, "single mails inline", () => inline);
    return [
      ...alone,
      ...speedRows(templated, "by template"),
      ...unitRows(templated, "by template", names, { writes: 10, reads: 7 }),
      ...speedRows(inlined, "inline").slice(0, 1),
      ...unitRows(inlined, "inline", names, { writes: 15, reads: 7 }),
    ];
  } finally {
    await service.stop();
  }
}

let mails = 0;

/** One that was never sent before. */
function bodyOf(content: object, { configId }: Organization): string {
  const i = mails++;
  return JSON.stringify({ ...content, sendingConfigId: configId, to: address(i), toName: `Reader ${i}`, variables: variables(i) });
}

const byTemplate = ({ templateId }: Organization): object => ({ templateId });

export function sendAll(service: Measured, all: Organization[], what: string, content = byTemplate): Promise<Run> {
  return measuredRun(service, what, all.length * mailsEach, async () => {
    const latencies = await Promise.all(all.map((one) => inSuccession(one, mailsEach, () => bodyOf(content(one), one))));
    return latencies.flat();
  });
}

async function inSuccession({ call }: Organization, n: number, body: () => string): Promise<number[]> {
  const latencies: number[] = [];
  while (latencies.length < n) latencies.push((await call("POST", "/send", body())).milliseconds);
  return latencies;
}

const samples = 40;

async function aloneRows(service: Measured, one: Organization): Promise<Row[]> {
  const body = () => bodyOf(byTemplate(one), one);
  await inSuccession(one, samples, body);
  await service.quiet();
  await service.ask("trace", true);
  const latencies = [];
  for (let i = 0; i < samples; i++) {
    latencies.push(...(await inSuccession(one, 1, body)));
    await service.quiet();
  }
  const trips = await service.ask("trace", false);
  return [
    { what: "acceptance, alone", value: milliseconds(median(latencies)), note: `median of ${samples}` },
    tripRow(trips, names[0], "acceptance"),
    tripRow(trips, names[1], "hand-over"),
  ];
}
