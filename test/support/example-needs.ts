// What the request examples of some operations need before they can succeed: a token of a mail, a code of an app, a state.
// By operationId; answers what takes the place of parts of the example.
import { Secret, TOTP } from "otpauth";
import { ask, mailTo, must, password } from "./client.ts";
import type { World } from "./example-world.ts";
import type { FakeStripe } from "./stripe/fake.ts";

export interface Parts {
  path?: Record<string, string | number>;
  query?: Record<string, string | number>;
  body?: unknown;
  /** Sent as it is, of this content type. */
  raw?: { type: string; text: string; headers?: Record<string, string> };
}
type Need = (world: World, stripe: FakeStripe) => Promise<Parts>;

const nothing = {};
/** It needs this to have been done, and nothing of it. */
const once =
  (done: (world: World) => Promise<unknown>): Need =>
  async (world) => {
    await done(world);
    return nothing;
  };
const having = (kind: string): Need => once((world) => world.made(kind));
const codeOf = (secret: string, steps = 0) =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * 30_000 });

const setUp = (world: World) => world.done<{ secret: string }>("POST", "/mfa/totp/setup");
async function withApp(world: World): Promise<string> {
  const { secret } = await setUp(world);
  const enabled = await world.done<{ recoveryCodes: string[] }>("POST", "/mfa/totp/verify-setup", { code: codeOf(secret) });
  return enabled.recoveryCodes[0]!;
}
async function loginOf({ email, service }: World): Promise<string> {
  const answer = await ask<{ mfaToken: string }>("POST", "/auth/login", { email, password }, { service });
  return must(200, answer).body.data.mfaToken;
}

const one = (pattern: RegExp, text: string | null | undefined): string => {
  const [, found] = pattern.exec(text ?? "") ?? [];
  if (!found) throw new Error(`${pattern} is not in ${text}`);
  return found;
};

/** An address of a world's own, as an inbox is everybody's. */
const fresh = () => `ann-${crypto.randomUUID()}@example.com`;

async function resetToken({ email, service }: World): Promise<string> {
  must(200, await ask("POST", "/auth/forgot-password", { email }, { service }));
  await fetch(`${service}/_local/settle`, { method: "POST" });
  return one(/token=([\w-]+)/, (await mailTo(email, service)).text);
}

async function secureToken(world: World): Promise<string> {
  await world.made("sending-configs");
  const to = fresh();
  await world.done("POST", "/send", { ...(await world.example("POST /api/v1/send")), to, secure: true });
  return one(/\/secure\/([\w.-]+)/, (await mailTo(to, world.service)).text);
}

async function confirmationToken(world: World): Promise<string> {
  await world.made("sending-configs");
  const email = fresh();
  await world.done("POST", `/forms/${await world.made("forms")}/submit`, { email });
  await world.settled();
  return one(/\/confirm\/([\w.-]+)/, (await mailTo(email, world.service)).text);
}

/** Of a campaign's mail. */
async function leavingToken(world: World): Promise<string> {
  const email = fresh();
  await world.done("POST", "/contacts", { email, lists: [await world.made("lists")] });
  await sent(world);
  return one(/\/unsubscribe\?token=([\w.-]+)/, (await mailTo(email, world.service)).headers["List-Unsubscribe"]);
}

/** The campaign of the example on its way, with whoever is on the list. */
async function sent(world: World): Promise<number> {
  await world.done("PUT", "/compliance", { physicalAddress: "1 High Street\nLondon", enabled: true });
  const id = await world.made("campaigns");
  await world.done("POST", `/campaigns/${id}/send`);
  await world.settled();
  return id;
}

/** One that cannot be through yet. */
async function slow(world: World): Promise<number> {
  await world.done("PUT", `/sending-configs/${await world.made("sending-configs")}`, { ratePerSecond: 0.01 });
  const contacts = Array.from({ length: 3 }, () => ({ email: fresh(), lists: [] as number[] }));
  const listId = await world.made("lists");
  for (const contact of contacts) contact.lists.push(listId);
  await world.done("POST", "/contacts/bulk", { contacts });
  const id = await world.made("campaigns");
  await world.done("PUT", "/compliance", { physicalAddress: "1 High Street\nLondon", enabled: true });
  await world.done("POST", `/campaigns/${id}/send`);
  return id;
}

/** A mail to the contact, of which it is known that it arrived. */
async function delivered(world: World): Promise<number> {
  await world.made("sending-configs");
  const contactId = await world.made("contacts");
  const { id } = await world.done("POST", "/send", { ...(await world.example("POST /api/v1/send")), to: "ann@example.com" });
  await world.settled();
  for (let tried = 0; tried < 100; tried++) {
    const { status } = await world.done<{ status: string }>("GET", `/sends/${id}`);
    if (status === "delivered") return contactId;
    await world.settled();
  }
  throw new Error("It does not arrive");
}
const afterMail = once(delivered);

async function deliveryOf(world: World): Promise<number> {
  const id = await world.made("webhooks");
  await delivered(world);
  const { deliveries } = await world.done<{ deliveries: { id: number }[] }>("GET", `/webhooks/${id}/deliveries`);
  return deliveries[0]!.id;
}

const stepId: Need = async (world) => {
  const id = await world.made("sequences");
  const { steps } = await world.done<{ steps: { id: number }[] }>(
    "POST",
    `/sequences/${id}/steps`,
    await world.example("POST /api/v1/sequences/{id}/steps"),
  );
  return { path: { id, stepId: steps[1]!.id } };
};

const variantId: Need = async (world) => {
  const id = await world.made("campaigns");
  const example = await world.example("POST /api/v1/campaigns/{id}/variants");
  return { path: { id, variantId: (await world.done("POST", `/campaigns/${id}/variants`, example)).id } };
};

const enrolled = once(async (world) => {
  const id = await world.made("sequences");
  await world.done("POST", `/sequences/${id}/enroll`, { contactIds: [await world.made("contacts")] });
});

const subscribed: Need = async (world, stripe) => {
  const { sessionId } = await world.done<{ sessionId: string }>("POST", "/billing/checkout", { plan: "starter" });
  for (const event of stripe.pay(sessionId)) {
    const { raw, headers } = stripe.call(event);
    must(200, await ask("POST", "/billing/webhooks", undefined, { raw, headers, service: world.service }));
  }
  return nothing;
};

const photo = async (world: World): Promise<Parts> => {
  const { url } = await world.done<{ url: string }>("POST", "/stock-photos/save", await world.example("POST /api/v1/stock-photos/save"));
  const [, orgId = "", name = ""] = /photos\/(\d+)\/(.+)$/.exec(url) ?? [];
  return { path: { orgId, name } };
};

const suppressed = once(async (world) => world.done("POST", "/suppressions", await world.example("POST /api/v1/suppressions")));

const form = (fields: Record<string, string>): Parts => ({
  raw: { type: "application/x-www-form-urlencoded", text: new URLSearchParams(fields).toString() },
});

export const needs: Record<string, Need> = {
  authSignup: async () => ({ body: { email: fresh(), password: "a long pass phrase" } }),
  authLogin: async ({ email }) => ({ body: { email, password } }),
  authResetPassword: async (world) => ({ body: { token: await resetToken(world), password: "a long pass phrase" } }),
  updateSettingsPassword: async () => ({ body: { currentPassword: password, newPassword: "a longer pass phrase" } }),
  getResetPassword: async (world) => ({ query: { token: await resetToken(world) } }),
  resetPassword: async (world) => form({ token: await resetToken(world), password: "a long pass phrase" }),
  mfaTotpVerifySetup: async (world) => ({ body: { code: codeOf((await setUp(world)).secret) } }),
  mfaTotpDisable: async (world) => ({ body: { code: await withApp(world) } }),
  mfaEmailOtpDisable: async (world) => {
    await world.done("POST", "/mfa/email-otp/enable");
    return { body: { password } };
  },
  mfaChallenge: async (world) => {
    await world.done("POST", "/mfa/email-otp/enable");
    return { body: { mfaToken: await loginOf(world) } };
  },
  mfaVerify: async (world) => {
    const code = await withApp(world);
    return { body: { mfaToken: await loginOf(world), code } };
  },
  getContactExport: afterMail,
  getContactScore: once(async (world) =>
    world.done("POST", `/contacts/${await world.made("contacts")}/score`, { delta: 10, reason: "Came to our stand" }),
  ),
  listListContacts: having("contacts"),
  listSegmentContacts: async (world) => {
    await world.made("contacts");
    const rules = { match: "all", conditions: [{ field: "tag", operator: "equals", value: "customer" }] };
    return { path: { id: (await world.done("POST", "/segments", { name: "All", rules })).id } };
  },
  previewCampaign: once(async (world) => {
    await world.done("PUT", "/compliance", { physicalAddress: "1 High Street\nLondon", enabled: true });
    await world.done("POST", "/contacts", { email: fresh(), lists: [await world.made("lists")] });
  }),
  getCampaign: once(leavingToken),
  listCampaignVariants: variantId,
  getCampaignVariant: variantId,
  updateCampaignVariant: variantId,
  deleteCampaignVariant: variantId,
  cancelCampaign: async (world) => ({ path: { id: await slow(world) } }),
  pauseCampaign: async (world) => ({ path: { id: await slow(world) } }),
  resumeCampaign: async (world) => {
    const id = await slow(world);
    await world.done("POST", `/campaigns/${id}/pause`);
    return { path: { id } };
  },
  updateSequence: async (world, stripe) => {
    await world.made("sending-configs");
    return stepId(world, stripe);
  },
  listSequenceEnrollments: enrolled,
  deleteSequenceEnrollments: enrolled,
  getSequenceDetail: async (world, stripe) => {
    await stepId(world, stripe);
    return enrolled(world, stripe);
  },
  listSequenceSteps: stepId,
  updateSequenceStep: stepId,
  deleteSequenceStep: stepId,
  whSqBySecret: async (world) => {
    const { webhookUrl } = await world.done<{ webhookUrl: string }>("GET", `/sequences/${await world.made("sequences")}`);
    return { path: { secret: one(/\/wh\/sq\/([\w-]+)$/, webhookUrl) } };
  },
  listFormSubmissions: once(confirmationToken),
  getFormsConfirm: async (world) => ({ path: { token: await confirmationToken(world) } }),
  formsConfirmByToken: async (world) => ({ path: { token: await confirmationToken(world) }, ...form({}) }),
  createForm: having("sending-configs"),
  send: having("sending-configs"),
  sendBatch: having("sending-configs"),
  listSends: afterMail,
  getSend: async (world) => {
    await delivered(world);
    const { sends } = await world.done<{ sends: { id: number }[] }>("GET", "/sends");
    return { path: { id: sends[0]!.id } };
  },
  cancelSend: async (world) => {
    await world.made("sending-configs");
    const scheduledAt = new Date(Date.now() + 86_400_000).toISOString();
    return { path: { id: (await world.done("POST", "/send", { ...(await world.example("POST /api/v1/send")), scheduledAt })).id } };
  },
  listEvents: afterMail,
  getEventsCustom: once(async (world) => {
    await world.made("contacts");
    await world.done("POST", "/events/custom", await world.example("POST /api/v1/events/custom"));
  }),
  eventsCustom: having("contacts"),
  deleteSuppression: suppressed,
  getSuppressionsCheck: suppressed,
  getSuppressionsExport: suppressed,
  listSecureMessages: having("secure-messages"),
  getSecure: async (world) => ({ path: { token: await secureToken(world) } }),
  secureByToken: async (world) => ({ path: { token: await secureToken(world) }, ...form({}) }),
  getDashboardOverview: once(sent),
  getAnalyticsOverview: afterMail,
  getAnalyticsDeliverability: afterMail,
  getReportsSequenceFunnel: enrolled,
  getReportsNoSequences: having("contacts"),
  importsUpload: async (world) => {
    const text = "email,firstName\nann@example.com,Ann\n";
    const upload = { filename: "people.csv", type: "text/csv", size: text.length, purpose: "import" };
    const { uploadId, uploadUrl } = await world.done<{ uploadId: string; uploadUrl: string }>("POST", "/attachments", upload);
    await fetch(uploadUrl, { method: "PUT", headers: { "content-type": "text/csv" }, body: text });
    return { body: { ...(await world.example("POST /api/v1/imports/upload")), uploadId } };
  },
  listImports: having("imports"),
  plansChange: subscribed,
  plansCancel: subscribed,
  getPlansCurrent: subscribed,
  getBillingSubscription: subscribed,
  billingPortal: subscribed,
  billingWebhooks: async (world, stripe) => {
    const { sessionId } = await world.done<{ sessionId: string }>("POST", "/billing/checkout", { plan: "starter" });
    const { raw, headers } = stripe.call(stripe.pay(sessionId)[0]!);
    return { raw: { type: "application/json", text: raw.toString(), headers } };
  },
  unsubscribe: async (world) => ({ query: { token: await leavingToken(world) }, ...form({ "List-Unsubscribe": "One-Click" }) }),
  getUnsubscribe: async (world) => ({ path: { token: await leavingToken(world) } }),
  unsubscribeByToken: async (world) => ({ path: { token: await leavingToken(world) } }),
  listWebhookDeliveries: once(deliveryOf),
  redeliverWebhookDelivery: async (world) => ({ path: { deliveryId: await deliveryOf(world) } }),
  getPhoto: photo,
};
