// Two processes hand over one campaign, and are killed with SIGKILL again and again, while people
// leave. The provider's own count of the mails judges the result.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { smtpConfig } from "../../infra/local/bench/campaign.ts";
import {
  type CountingProvider,
  startCountingProvider,
} from "../../infra/local/bench/counting-provider.ts";
import { startCountingSmtpServer } from "../../infra/local/bench/counting-smtp-server.ts";
import {
  launchService,
  type ServiceProcess,
  startLaneProcess,
} from "../../infra/local/bench/measured-service.ts";
import { type BenchOrganization, uniqueAddress } from "../../infra/local/bench/organizations.ts";
import { seedSite } from "../../infra/local/bench/seeded-site.ts";
import { openSandbox } from "../../infra/local/sandbox/sandbox.ts";
import * as clock from "../../shared/clock.ts";
import { inParallel } from "../../shared/kernel/parallel.ts";
import { everything } from "../support/extent.ts";

const people = everything ? 20_000 : 4000;
/** Each kill ends both processes, the second one first. */
const kills = everything ? 8 : 2;

interface Outcomes {
  status: string;
  outcomes: { outcome: string; count: number }[];
}

test("no mail of a campaign is lost or sent twice while its two processes are killed", async () => {
  await killCampaign(await startCountingProvider(people, 50));
});

test("nor is one that goes out over SMTP", async () => {
  await killCampaign(await startCountingSmtpServer(people, 2));
});

async function killCampaign(provider: CountingProvider): Promise<void> {
  const service = await startBoth(provider);
  const { caller, listId } = await service.seed();
  const isSmtp = provider.url.startsWith("smtp:");
  const sendingConfigId = isSmtp
    ? await caller.create("/sending-configs", smtpConfig)
    : caller.configId;
  const { templateId } = caller;
  const campaign = { name: "News", templateId, sendingConfigId, listId };
  const id = await caller.create("/campaigns", campaign);
  await caller.call("POST", `/campaigns/${id}/send`);
  const leaving = letPeopleLeave(caller);
  for (let n = 1; n <= kills; n++) {
    await untilAccepted(provider, (n * people) / (kills + 1));
    await service.killBoth();
  }
  const leavers = await leaving.stop();
  expect(leavers).toBeGreaterThan(0);
  const audit = await whenAudited(caller, id);
  const count = (outcome: string) =>
    audit.outcomes.find((one) => one.outcome === outcome)?.count ?? 0;
  const [mailed, uncertain] = [count("mailed"), count("uncertain")];
  const left = count("suppressed") + count("unsubscribed");
  expect(mailed + uncertain + left).toBe(people);
  // A call that a kill interrupted is uncertain: the provider may have its mails.
  const { none, one, several, strangers } = provider.takeCounts();
  expect({ several, strangers }).toEqual({ several: 0, strangers: 0 });
  expect(one).toBeGreaterThanOrEqual(mailed);
  expect(none).toBeLessThanOrEqual(uncertain + left);
  console.info(`${kills} kills: ${mailed} mailed, ${uncertain} uncertain, ${left} left before`);
}

/** Starts the service and a second process that hands over its mail. */
async function startBoth(provider: CountingProvider) {
  const dataDir = await mkdtemp(join(tmpdir(), "pennymail-kills-"));
  const sandbox = await openSandbox({ dataDir: ":memory:", publicUrl: () => "" });
  const key = provider.url.startsWith("smtp:") ? "SMTP" : "SENDGRID";
  const settings = { DATA_DIR: dataDir, [`PROVIDER_URL_${key}`]: provider.url };
  const start = (PORT: string): Promise<ServiceProcess> =>
    launchService(sandbox, { ...settings, PORT }, () => undefined);
  let service = await start("0");
  let laneProcess = await startLaneProcess(service);
  onTestFinished(async () => {
    await laneProcess.end();
    await service.stop();
    await Promise.all([sandbox.stop(), provider.stop()]);
    await rm(dataDir, { recursive: true });
  });
  return {
    seed: () => seedSite({ ...service, sandbox }, people, { all: true }),
    /** For a moment, the service goes on without the second process. */
    async killBoth() {
      await laneProcess.end("SIGKILL");
      await clock.sleep(200);
      await service.kill();
      service = await start(new URL(service.url).port);
      laneProcess = await startLaneProcess(service);
    },
  };
}

async function untilAccepted(provider: CountingProvider, mails: number): Promise<void> {
  while (provider.accepted() < mails) await clock.sleep(20);
}

/** Suppresses the addresses of the last quarter of the contacts, the last one first. */
function letPeopleLeave({ call }: BenchOrganization) {
  let [isOver, next, leavers] = [false, people - 1, 0];
  const suppress = async (email: string): Promise<void> => {
    await call("POST", "/suppressions", { email });
    leavers++;
  };
  const run = async () => {
    while (!isOver && next > 0.75 * people) {
      const email = uniqueAddress(next--);
      // A kill interrupts the request. If the address is on the list by then, that is refused.
      await suppress(email).catch(() =>
        clock.sleep(100).then(() => suppress(email).catch(() => 0)),
      );
    }
  };
  const running = inParallel(4, [1, 2, 3, 4], run);
  return {
    async stop() {
      isOver = true;
      await running;
      return leavers;
    },
  };
}

async function whenAudited({ call }: BenchOrganization, id: number): Promise<Outcomes> {
  for (;;) {
    const { data } = await call<Outcomes>("GET", `/campaigns/${id}/audit`);
    if (!["underway", "auditing"].includes(data.status)) return data;
    await clock.sleep(200);
  }
}
