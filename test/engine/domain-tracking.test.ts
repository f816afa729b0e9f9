// From a domain's settings to what the provider of its mail is told.
import { beforeAll, expect, test } from "vitest";
import { domains as group } from "../../functions/http/domains.ts";
import { send as sendGroup } from "../../functions/http/send.ts";
import * as clock from "../../shared/clock.ts";
import type * as domains from "../../shared/domain/domains.ts";
import * as sendingConfigs from "../../shared/domain/sending-configs.ts";
import { update, write } from "../../shared/doors/table.ts";
import { sessionCookie } from "../../shared/http/authenticate.ts";
import { keys, off } from "../../shared/keys.ts";
import { ask } from "../support/events.ts";
import * as mailroom from "../support/mailroom.ts";

beforeAll(mailroom.opened);

test("what a mail does not say of tracking its domain says, and the provider is told", async () => {
  const from = await mailroom.sender("postmark");
  const cookies = [`${sessionCookie}=${from.token}`];
  const { fromEmail } = await sendingConfigs.find(from.caller, from.configId);
  const made = await ask<domains.DomainDetail>(group, "POST /domains", { cookies, body: { name: fromEmail.split("@")[1]! } });
  expect(made.status).toBe(201);
  // Nobody looks at its records here.
  await write(update(keys.record(from.caller.orgId, "DOMAIN", made.body.data.id), { remove: off("due") }));
  mailroom.messages.length = 0;
  const tracked = async (body: object = {}) => {
    clock.advance(61);
    const mail = { sendingConfigId: from.configId, siteId: from.siteId, to: "ada@example.com", subject: "Hi", html: "<p>Hi</p>", ...body };
    const { status } = await ask<{ id: number }>(sendGroup, "POST /send", { cookies, body: mail });
    expect(status).toBe(202);
    await mailroom.settle();
    const { trackOpens, trackClicks } = from.provider.mails.at(-1)!;
    return [trackOpens, trackClicks];
  };
  const patch = (body: object) =>
    ask<domains.DomainDetail>(group, "PATCH /domains/:id", { cookies, params: { id: String(made.body.data.id) }, body });
  expect(await tracked()).toEqual([undefined, undefined]);
  const changed = await patch({ openTrackingEnabled: true, clickTrackingEnabled: false });
  expect(changed).toMatchObject({ status: 200, body: { data: { openTrackingEnabled: true, clickTrackingEnabled: false } } });
  expect(await tracked()).toEqual([true, false]);
  expect(await tracked({ trackOpens: false, trackClicks: true })).toEqual([false, true]);
  await patch({ openTrackingEnabled: null });
  expect(await tracked()).toEqual([undefined, false]);
  await from.provider.stop();
});
