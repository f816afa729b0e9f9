// POST /send/batch: 1,000 recipients per request, each with variables of their own.
import {
  callSequenceRow,
  type MailPaths,
  type MailRun,
  measureMails,
  speedRows,
  unitRows,
} from "./measure.ts";
import { startMeasuredService } from "./measured-service.ts";
import {
  type BenchScene,
  createOrganization,
  inlineContent,
  uniqueAddress,
  variablesFor,
} from "./organizations.ts";
import { atMost, type BenchRow, formatMs, median, showProgress } from "./report.ts";

const recipients = 1000;
const batches = 10;
const paths: MailPaths = { accept: "POST /api/v1/send/batch", handOver: "lane" };
const aims = { writes: 2.5, reads: 2.5 };

export async function run(): Promise<BenchRow[]> {
  const service = await startMeasuredService();
  try {
    const caller = await createOrganization(service);
    const bodies = createBatchBodies({
      templateId: caller.templateId,
      sendingConfigId: caller.configId,
    });
    const inlineBodies = createBatchBodies({ ...inlineContent, sendingConfigId: caller.configId });
    const scene: BenchScene = { service, caller };
    const alone = await unloadedRows(scene, bodies);
    const byTemplate = await sendBatches(scene, bodies, "10 batches by template");
    const inlined = await sendBatches(scene, inlineBodies, "10 batches inline");
    return [
      ...alone,
      ...speedRows(byTemplate, "by template"),
      ...unitRows(byTemplate, "by template", { paths, aims }),
      ...speedRows(inlined, "inline").slice(0, 1),
      ...unitRows(inlined, "inline", { paths, aims }),
    ];
  } finally {
    await service.stop();
  }
}

/** Endless request bodies, each with new recipients. */
export function* createBatchBodies(content: object): Generator<string, never> {
  for (let next = 0; ; next += recipients) {
    const rows = Array.from({ length: recipients }, (_, i) => ({
      to: uniqueAddress(next + i),
      toName: `Reader ${next + i}`,
      variables: variablesFor(next + i),
    }));
    yield JSON.stringify({ ...content, recipients: rows });
  }
}

/** One caller sends one batch after the other while workers hand over the accepted mail. */
function sendBatches(
  { service, caller }: BenchScene,
  bodies: Generator<string, never>,
  progressText: string,
): Promise<MailRun> {
  const ready = Array.from({ length: batches }, () => bodies.next().value);
  return measureMails(service, { progressText, mails: batches * recipients }, async () => {
    const latencies: number[] = [];
    for (const body of ready)
      latencies.push((await caller.call("POST", "/send/batch", body)).milliseconds);
    return latencies;
  });
}

const samples = 7;

/** One batch at a time on an idle service. The first two warm up. */
async function unloadedRows(
  { service, caller }: BenchScene,
  bodies: Generator<string, never>,
): Promise<BenchRow[]> {
  const latencies: number[] = [];
  for (let i = 0; i < samples + 2; i++) {
    showProgress("batch after batch", i, samples + 2);
    if (i === 2) await service.query("setTracing", true);
    const answer = await caller.call("POST", "/send/batch", bodies.next().value);
    if (i >= 2) latencies.push(answer.milliseconds);
    await service.waitUntilIdle();
  }
  // A message for a lane that another worker holds ends after one call.
  const traces = (await service.query("setTracing", false)).filter(({ calls }) => calls > 1);
  const medianMs = median(latencies);
  return [
    {
      what: "acceptance of 1,000 recipients without other load",
      value: formatMs(medianMs),
      aim: atMost(1000, medianMs, "ms"),
      note: `median of ${samples}`,
    },
    callSequenceRow(traces, paths.accept, "acceptance"),
    callSequenceRow(traces, paths.handOver, "hand-over"),
  ];
}
