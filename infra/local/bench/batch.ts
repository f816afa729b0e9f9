// POST /send/batch: 1,000 recipients to a request, each with variables of their own.
import { address, inline, type Organization, organization, variables } from "./callers.ts";
import { measuredRun, type Run, speedRows, tripRow, unitRows } from "./mails.ts";
import { atMost, median, milliseconds, progress, type Row } from "./report.ts";
import { type Measured, measured } from "./service.ts";

const recipients = 1000;
const batches = 10;
const names: [string, string] = ["POST /api/v1/send/batch", "lane"];
const aims = { writes: 2.5, reads: 2.5 };

export async function run(): Promise<Row[]> {
  const service = await measured();
  try {
    const caller = await organization(service);
    const bodies = bodiesOf({ templateId: caller.templateId, sendingConfigId: caller.configId });
    const alone = await aloneRows(service, caller, bodies);
    const byTemplate = await sendAll(service, caller, bodies, "10 batches by template");
    const inlined = await sendAll(service, caller, bodiesOf({ ...inline, sendingConfigId: caller.configId }), "10 batches inline");
    return [
      ...alone,
      ...speedRows(byTemplate, "by template"),
      ...unitRows(byTemplate, "by template", names, aims),
      ...speedRows(inlined, "inline").slice(0, 1),
      ...unitRows(inlined, "inline", names, aims),
    ];
  } finally {
    await service.stop();
  }
}

/** Bodies of requests, without end: no recipient comes twice. */
export function* bodiesOf(content: object): Generator<string, never> {
  for (let next = 0; ; next += recipients) {
    const rows = Array.from({ length: recipients }, (_, i) => ({
      to: address(next + i),
      toName: `Reader ${next + i}`,
      variables: variables(next + i),
    }));
    yield JSON.stringify({ ...content, recipients: rows });
  }
}

/** One batch after the other from one caller, while workers hand over what was accepted. */
export function sendAll(service: Measured, { call }: Organization, bodies: Generator<string, never>, what: string): Promise<Run> {
  const ready = Array.from({ length: batches }, () => bodies.next().value);
  return measuredRun(service, what, batches * recipients, async () => {
    const latencies: number[] = [];
    for (const body of ready) latencies.push((await call("POST", "/send/batch", body)).milliseconds);
    return latencies;
  });
}

const samples = 7;

/** One batch at a time with nothing else going on; the first ones only warm up. */
async function aloneRows(service: Measured, { call }: Organization, bodies: Generator<string, never>): Promise<Row[]> {
  const latencies: number[] = [];
  for (let i = 0; i < samples + 2; i++) {
    progress("batch after batch", i, samples + 2);
    if (i === 2) await service.ask("trace", true);
    const answer = await call("POST", "/send/batch", bodies.next().value);
    if (i >= 2) latencies.push(answer.milliseconds);
    await service.quiet();
  }
  // A message for a lane that another worker has in hand ends with its first call.
  const trips = (await service.ask("trace", false)).filter(({ calls }) => calls > 1);
  const usual = median(latencies);
  return [
    {
      what: "acceptance of 1,000 recipients, alone",
      value: milliseconds(usual),
      aim: atMost(1000, usual, "ms"),
      note: `median of ${samples}`,
    },
    tripRow(trips, names[0], "acceptance"),
    tripRow(trips, names[1], "hand-over"),
  ];
}
