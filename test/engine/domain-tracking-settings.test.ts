// The tracking settings of a domain, up to the call of the provider.
import { beforeAll, expect, test } from "vitest";
import { domains as group } from "../../functions/http/domains.ts";
import { send as sendGroup } from "../../functions/http/send.ts";
import { update, write } from "../../shared/adapters/dynamodb/table.ts";
import type * as domains from "../../shared/domain/senders/domains/domains.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import { sessionCookieName } from "../../shared/http/authenticate.ts";
import { indexAttributeNames, keys } from "../../shared/keys.ts";
import { invokeRoute } from "../support/lambda-requests.ts";
import * as mailTest from "../support/sending.ts";

beforeAll(mailTest.useOwnTableAndQueues);

test("a mail without tracking settings uses those of its domain", async () => {
  const from = await mailTest.createSender("postmark");
  const cookies = [`${sessionCookieName}=${from.token}`];
  const { fromEmail } = await sendingConfigs.find(from.caller, from.configId);
  const made = await invokeRoute<domains.DomainDetail>(group, "POST /domains", {
    cookies,
    body: { name: fromEmail!.split("@")[1]! },
  });
  expect(made.status).toBe(201);
  // Without an entry on the due index, the domain is not checked.
  await write(
    update(keys.record(from.caller.orgId, "DOMAIN", made.body.data.id), {
      remove: indexAttributeNames("due"),
    }),
  );
  mailTest.pendingMessages.length = 0;
  const tracked = async (body: object = {}) => {
    const mail = {
      sendingConfigId: from.configId,
      siteId: from.siteId,
      to: "ada@example.com",
      subject: "Hi",
      html: "<p>Hi</p>",
      ...body,
    };
    const { status } = await invokeRoute<{ id: number }>(sendGroup, "POST /send", {
      cookies,
      body: mail,
    });
    expect(status).toBe(202);
    await mailTest.runWorkers();
    const { trackOpens, trackClicks } = from.provider.mails.at(-1)!;
    return [trackOpens, trackClicks];
  };
  const patch = (body: object) =>
    invokeRoute<domains.DomainDetail>(group, "PATCH /domains/:id", {
      cookies,
      params: { id: String(made.body.data.id) },
      body,
    });
  expect(await tracked()).toEqual([undefined, undefined]);
  const changed = await patch({ openTrackingEnabled: true, clickTrackingEnabled: false });
  expect(changed).toMatchObject({
    status: 200,
    body: { data: { openTrackingEnabled: true, clickTrackingEnabled: false } },
  });
  expect(await tracked()).toEqual([true, false]);
  expect(await tracked({ trackOpens: false, trackClicks: true })).toEqual([false, true]);
  await patch({ openTrackingEnabled: null });
  expect(await tracked()).toEqual([undefined, false]);
  await from.provider.stop();
});
