// POST /send: 50 callers of a few organizations, and of 50 organizations.
import { inParallel } from "../../../shared/kernel/parallel.ts";
import { startCountingProvider } from "./counting-provider.ts";
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
import { atLeast, atMost, type BenchRow, formatMs, median, showProgress } from "./report.ts";

const callers = 50;
/** Each may make 2,000 requests a minute. */
const fewOrganizations = 10;
const mailsOfFew = 6000;
const mailsOfEach = 40;
const paths: MailPaths = { accept: "POST /api/v1/send", handOver: "send" };

interface SingleSendsBench {
  service: MeasuredService;
  countAccepted(): number;
}

export async function run(): Promise<BenchRow[]> {
  const provider = await startCountingProvider(0, 0);
  const service = await startMeasuredService({ PROVIDER_URL_SENDGRID: provider.url });
  const bench = { service, countAccepted: provider.accepted };
  try {
    showProgress(`${callers} organizations sign up`);
    const all = await createOrganizations(service, callers);
    const few = all.slice(0, fewOrganizations);
    const templated = { content: templateContent, mails: mailsOfFew };
    // Until the code is compiled, a mail takes several times as long.
    await sendSingles(bench, few, templated);
    return [
      ...(await unloadedRows(service, few[0]!)),
      ...fewOrganizationsRows(await sendSingles(bench, few, templated)),
      ...(await manyOrganizationsRows(bench, all, "by template", templateContent, 12.5)),
      ...(await manyOrganizationsRows(bench, all, "inline", () => inlineContent, 13.5)),
    ];
  } finally {
    await service.stop();
    await provider.stop();
  }
}

function fewOrganizationsRows(run: MailRun): BenchRow[] {
  const label = `${fewOrganizations} organizations`;
  const [speed, latency, cpu] = speedRows(run, label);
  const cpuInAll = (run.cpu.cpu + (run.cpu.engineCpu ?? 0)) / run.mails;
  return [
    { ...speed!, aim: atLeast(150, run.mails / run.seconds, "/s") },
    latency!,
    { ...cpu!, aim: atMost(12, cpuInAll, "ms in all") },
    ...unitRows(run, label, { paths, aims: { writes: 12, reads: 13 } }),
  ];
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

async function manyOrganizationsRows(
  bench: SingleSendsBench,
  organizations: BenchOrganization[],
  label: string,
  content: typeof templateContent,
  writes: number,
): Promise<BenchRow[]> {
  const mails = organizations.length * mailsOfEach;
  const run = await sendSingles(bench, organizations, { content, mails });
  const fullLabel = `${organizations.length} organizations, ${label}`;
  return [
    ...speedRows(run, fullLabel).slice(0, 1),
    ...unitRows(run, fullLabel, { paths, aims: { writes, reads: 13 } }),
  ];
}

/** Each caller sends one mail after the other. */
function sendSingles(
  { service, countAccepted }: SingleSendsBench,
  organizations: BenchOrganization[],
  { content, mails }: { content: typeof templateContent; mails: number },
): Promise<MailRun> {
  const progressText = `single mails of ${organizations.length} organizations`;
  return measureMails(service, { progressText, mails, countAccepted }, () =>
    inParallel(callers, Array.from({ length: mails }), (_, i) => {
      const one = organizations[i % organizations.length]!;
      return sendOne(one, createBody(content(one), one));
    }),
  );
}

const sendOne = async ({ call }: BenchOrganization, body: string): Promise<number> =>
  (await call("POST", "/send", body)).milliseconds;

const samples = 100;
const tracedSamples = 10;

/** One caller who sends one mail after the other. */
async function unloadedRows(service: MeasuredService, one: BenchOrganization): Promise<BenchRow[]> {
  const sendNext = () => sendOne(one, createBody(templateContent(one), one));
  const latencies: number[] = [];
  for (let i = 0; i < samples; i++) latencies.push(await sendNext());
  await service.query("setTracing", true);
  for (let i = 0; i < tracedSamples; i++) {
    await sendNext();
    await service.waitUntilIdle();
  }
  const traces = await service.query("setTracing", false);
  return [
    {
      what: "acceptance without other load",
      value: formatMs(median(latencies)),
      aim: atMost(20, median(latencies), "ms"),
      note: `median of ${samples}, one after the other`,
    },
    callSequenceRow(traces, paths.accept, "acceptance"),
    callSequenceRow(traces, paths.handOver, "hand-over"),
  ];
}
