// POST /send: 50 organizations, each sending one mail after the other.
import {
  callSequenceRow,
  type MailPaths,
  type MailRun,
  measureMails,
  speedRows,
  unitRows,
} from "./measure.ts";
import { type MeasuredService, startMeasuredService } from "./measured-service.ts";
import {
  type BenchOrganization,
  createOrganizations,
  inlineContent,
  uniqueAddress,
  variablesFor,
} from "./organizations.ts";
import { type BenchRow, formatMs, median, showProgress } from "./report.ts";

const callers = 50;
const mailsEach = 40;
const paths: MailPaths = { accept: "POST /api/v1/send", handOver: "send" };

export async function run(): Promise<BenchRow[]> {
  const service = await startMeasuredService();
  try {
    showProgress(`${callers} organizations sign up`);
    const all = await createOrganizations(service, callers);
    const alone = await unloadedRows(service, all[0]!);
    const templated = await sendSingles(service, all, {
      progressText: "single mails by template",
      content: templateContent,
    });
    const inlined = await sendSingles(service, all, {
      progressText: "single mails inline",
      content: () => inlineContent,
    });
    return [
      ...alone,
      ...speedRows(templated, "by template"),
      ...unitRows(templated, "by template", { paths, aims: { writes: 7, reads: 7 } }),
      ...speedRows(inlined, "inline").slice(0, 1),
      ...unitRows(inlined, "inline", { paths, aims: { writes: 9, reads: 7 } }),
    ];
  } finally {
    await service.stop();
  }
}

let sentMails = 0;

/** The body of a mail to a new recipient. */
function createBody(content: object, { configId }: BenchOrganization): string {
  const i = sentMails++;
  return JSON.stringify({
    ...content,
    sendingConfigId: configId,
    to: uniqueAddress(i),
    toName: `Reader ${i}`,
    variables: variablesFor(i),
  });
}

const templateContent = ({ templateId }: BenchOrganization): object => ({ templateId });

function sendSingles(
  service: MeasuredService,
  organizations: BenchOrganization[],
  { progressText, content }: { progressText: string; content: typeof templateContent },
): Promise<MailRun> {
  const mails = organizations.length * mailsEach;
  return measureMails(service, { progressText, mails }, async () => {
    const latencies = await Promise.all(
      organizations.map((one) =>
        sendInSequence(one, mailsEach, () => createBody(content(one), one)),
      ),
    );
    return latencies.flat();
  });
}

async function sendInSequence(
  { call }: BenchOrganization,
  n: number,
  body: () => string,
): Promise<number[]> {
  const latencies: number[] = [];
  while (latencies.length < n) latencies.push((await call("POST", "/send", body())).milliseconds);
  return latencies;
}

const samples = 40;

async function unloadedRows(service: MeasuredService, one: BenchOrganization): Promise<BenchRow[]> {
  const body = () => createBody(templateContent(one), one);
  await sendInSequence(one, samples, body);
  await service.waitUntilIdle();
  await service.query("setTracing", true);
  const latencies = [];
  for (let i = 0; i < samples; i++) {
    latencies.push(...(await sendInSequence(one, 1, body)));
    await service.waitUntilIdle();
  }
  const traces = await service.query("setTracing", false);
  return [
    {
      what: "acceptance without other load",
      value: formatMs(median(latencies)),
      note: `median of ${samples}`,
    },
    callSequenceRow(traces, paths.accept, "acceptance"),
    callSequenceRow(traces, paths.handOver, "hand-over"),
  ];
}
