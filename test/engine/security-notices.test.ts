// Which changes are mailed to the owners of an organization, or to the person.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import * as apiKeys from "../../shared/domain/identity/api-keys.ts";
import * as members from "../../shared/domain/identity/members.ts";
import * as mfa from "../../shared/domain/identity/mfa/mfa.ts";
import * as passwordChanges from "../../shared/domain/identity/password-changes.ts";
import { NewSendingConfig } from "../../shared/domain/senders/sending-config-schema.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import type { SystemMail } from "../../shared/queues.ts";
import { createAccount, password } from "../support/accounts.ts";
import { addMember } from "../support/members.ts";
import { pendingMessages, useVirtualQueues } from "../support/virtual-queues.ts";

beforeAll(async () => {
  vi.stubEnv("SYSTEM_SENDER", "postmark:system@pennymail.example");
  await useVirtualQueues();
});
afterAll(() => {
  vi.unstubAllEnvs();
});

type Notice = Extract<SystemMail, { mail: "notice" }>;

/** The notices that `work` queues. */
async function noticesOf(work: () => Promise<unknown>): Promise<Omit<Notice, "mail">[]> {
  pendingMessages.length = 0;
  await work();
  return pendingMessages
    .map(({ body }) => JSON.parse(body) as SystemMail)
    .filter((message) => message.mail === "notice")
    .map(({ mail, ...notice }) => notice);
}

test("owners are told about keys, senders, members and roles", async () => {
  const { caller } = await createAccount();
  const { orgId } = caller;
  let id = 0;
  const expectNotice = async (event: Notice["event"], work: () => Promise<{ id: number }>) => {
    const notices = await noticesOf(async () => {
      ({ id } = await work());
    });
    expect(notices).toEqual([{ event, orgId, recordId: id }]);
  };
  await expectNotice("api_key_created", () =>
    apiKeys.create(caller, apiKeys.NewApiKey.parse({ name: "k" })),
  );
  const config = NewSendingConfig.parse({
    provider: "resend",
    fromEmail: "news@example.com",
    credentials: { apiKey: "re_test" },
  });
  await expectNotice("sender_created", () => sendingConfigs.create(caller, config));
  const configId = id;
  await expectNotice("sender_changed", () =>
    sendingConfigs.update(caller, configId, { credentials: { apiKey: "re_other" } }),
  );
  await expectNotice("member_joined", async () => {
    const { userId } = await addMember(caller, { role: "viewer" });
    return { id: userId };
  });
  const memberId = id;
  await expectNotice("role_changed", () => members.change(caller, memberId, { role: "admin" }));
  expect(await noticesOf(() => members.change(caller, memberId, { role: "admin" }))).toEqual([]);
  expect(
    await noticesOf(() => sendingConfigs.update(caller, configId, { fromName: "News" })),
  ).toEqual([]);
  const guest = await createAccount();
  await expectNotice("member_joined", async () => {
    const { userId } = await addMember(caller, { role: "viewer", email: guest.email });
    return { id: userId };
  });
});

test("a person is told about a new password and a second factor", async () => {
  const { caller } = await createAccount();
  const { orgId, userId } = caller;
  expect(await noticesOf(() => mfa.enableEmailOtp(caller))).toEqual([
    { event: "second_factor_on", orgId, userId },
  ]);
  expect(await noticesOf(() => mfa.enableEmailOtp(caller))).toEqual([]);
  const change = { currentPassword: password, newPassword: "quite a new password" };
  expect(await noticesOf(() => passwordChanges.changePassword(caller, change))).toEqual([
    { event: "password_changed", orgId, userId },
  ]);
});
