// Preparations for request examples that need them to succeed, such as a token from a mail, a code
// of an app or a state, by operationId. Each returns replacements for parts of the example.
import { Secret, TOTP } from "otpauth";
import { expectStatus, password, request, signedUp, waitForMail } from "./api-client.ts";
import { keyFile } from "./fake-google.ts";
import type { ExampleWorld } from "./openapi-example-world.ts";
import type { FakeStripe } from "./stripe/fake-stripe.ts";
import { tinyPicture } from "./tiny-picture.ts";

export interface ExampleOverrides {
  path?: Record<string, string | number>;
  query?: Record<string, string | number>;
  body?: unknown;
  /** The body as it is sent, with its content type. */
  raw?: { type: string; text: string; headers?: Record<string, string> };
}
type ExampleSetup = (world: ExampleWorld, stripe: FakeStripe) => Promise<ExampleOverrides>;

const nothing = {};
/** A preparation that replaces no part of the example. */
const doFirst =
  (done: (world: ExampleWorld) => Promise<unknown>): ExampleSetup =>
  async (world) => {
    await done(world);
    return nothing;
  };
const withRecord = (kind: string): ExampleSetup => doFirst((world) => world.ensureRecord(kind));
/** The time of the service in milliseconds. Earlier examples may have moved its clock. */
async function readClock({ service }: ExampleWorld): Promise<number> {
  const answer = await fetch(`${service}/_local/clock`);
  const { data } = (await answer.json()) as { data: { now: string } };
  return Date.parse(data.now);
}

/** Stripe's signature is refused if the clock of the service is 5 minutes later. */
const readStripeTime = async (world: ExampleWorld): Promise<number> =>
  Math.floor((await readClock(world)) / 1000);

async function totpCode(world: ExampleWorld, secret: string): Promise<string> {
  const timestamp = await readClock(world);
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp });
}

const setUpTotp = (world: ExampleWorld) =>
  world.callAndExpect<{ secret: string }>("POST", "/mfa/totp/setup");
async function enableTotp(world: ExampleWorld): Promise<string> {
  const { secret } = await setUpTotp(world);
  const enabled = await world.callAndExpect<{ recoveryCodes: string[] }>(
    "POST",
    "/mfa/totp/verify-setup",
    { code: await totpCode(world, secret) },
  );
  return enabled.recoveryCodes[0]!;
}
async function startLogin({ email, service }: ExampleWorld): Promise<string> {
  const answer = await request<{ mfaToken: string }>(
    "POST",
    "/auth/login",
    { email, password },
    { service },
  );
  return expectStatus(200, answer).body.data.mfaToken;
}

const matchOne = (pattern: RegExp, text: string | null | undefined): string => {
  const [, found] = pattern.exec(text ?? "") ?? [];
  if (!found) throw new Error(`${pattern} is not in ${text}`);
  return found;
};

/** A unique address, because all worlds share the inbox. */
const uniqueEmail = () => `ann-${crypto.randomUUID()}@example.com`;

/** Gives a campaign someone to reach and an address to name. */
async function makeAudience(world: ExampleWorld): Promise<void> {
  await world.callAndExpect("PUT", "/compliance", {
    physicalAddress: "1 High Street\nLondon",
    enabled: true,
  });
  await world.callAndExpect("POST", "/contacts", {
    email: uniqueEmail(),
    lists: [await world.ensureRecord("lists")],
  });
}

async function resetToken({ email, service }: ExampleWorld): Promise<string> {
  expectStatus(200, await request("POST", "/auth/forgot-password", { email }, { service }));
  await fetch(`${service}/_local/settle`, { method: "POST" });
  return matchOne(/token=([\w-]+)/, (await waitForMail(email, service)).text);
}

/** Invites somebody to the organization. Returns the token of the mailed link. */
async function invite(
  { callAndExpect, service }: Pick<ExampleWorld, "callAndExpect" | "service">,
  { email = uniqueEmail(), role = "viewer" }: { email?: string; role?: string } = {},
): Promise<{ token: string }> {
  await callAndExpect("POST", "/invitations", { email, role });
  await fetch(`${service}/_local/settle`, { method: "POST" });
  const pattern = /accept-invitation\?token=([\w-]+)/;
  return { token: matchOne(pattern, (await waitForMail(email, service)).text) };
}

/** Adds a member through an invitation. Returns the id of the user. */
export async function addMember(world: ExampleWorld, role: string): Promise<number> {
  const body = { ...(await invite(world, { role })), password };
  const { service } = world;
  const accepted = await request<{ user: { id: number } }>("POST", "/invitations/accept", body, {
    service,
  });
  return expectStatus(200, accepted).body.data.user.id;
}

/** Makes the user of the world a member of another organization. Returns its id. */
async function joinAnother({ email, service }: ExampleWorld): Promise<number> {
  const other = await signedUp({ service });
  const callAndExpect = async <T>(method: string, path: string, body?: unknown) =>
    (await other.call<T>(method, path, body, { as: "session" })).body.data;
  const { token } = await invite({ callAndExpect, service }, { email });
  const body = { token, password };
  expectStatus(200, await request("POST", "/invitations/accept", body, { service }));
  return other.orgId;
}

async function secureToken(world: ExampleWorld, more: object = {}): Promise<string> {
  await world.ensureRecord("sending-configs");
  const to = uniqueEmail();
  await world.callAndExpect("POST", "/send", {
    ...(await world.requestExample("POST /api/v1/send")),
    ...more,
    to,
    secure: true,
  });
  return matchOne(/\/secure\/([\w.-]+)/, (await waitForMail(to, world.service)).text);
}

/** Returns the token of a link on the page of a message with a file. */
async function secureFileToken(world: ExampleWorld): Promise<string> {
  const type = "application/octet-stream";
  const attachments = [{ filename: "notes.dat", type, content: "YQ==" }];
  const page = `${world.service}/secure/${await secureToken(world, { attachments })}`;
  const shown = await fetch(page, { method: "POST", body: new URLSearchParams() });
  return matchOne(/\/secure\/files\/([\w-]+)/, await shown.text());
}

async function confirmationToken(world: ExampleWorld): Promise<string> {
  await world.ensureRecord("sending-configs");
  const email = uniqueEmail();
  await world.callAndExpect("POST", `/forms/${await world.ensureRecord("forms")}/submit`, {
    email,
  });
  await world.runUntilIdle();
  return matchOne(/\/confirm\/([\w.-]+)/, (await waitForMail(email, world.service)).text);
}

/** Returns the parts of a link in a mail that the service tracks itself. */
async function trackedLink(world: ExampleWorld): Promise<{ token: string; link: string }> {
  const config = await world.ensureRecord("sending-configs");
  await world.callAndExpect("PUT", `/sending-configs/${config}`, { tracking: "own" });
  const to = uniqueEmail();
  await world.callAndExpect("POST", "/send", {
    to,
    sendingConfigId: config,
    subject: "Sale",
    html: '<a href="https://shop.example/sale">Sale</a>',
  });
  const { html } = await waitForMail(to, world.service);
  const [, token = "", link = ""] = /\/t\/([\w-]+)\/([\w-]+)"/.exec(html ?? "") ?? [];
  return { token, link };
}

/** Returns the token of an unsubscribe link in a campaign's mail. */
async function unsubscribeToken(world: ExampleWorld): Promise<string> {
  const email = uniqueEmail();
  await world.callAndExpect("POST", "/contacts", {
    email,
    lists: [await world.ensureRecord("lists")],
  });
  await sendCampaign(world);
  return matchOne(
    /\/unsubscribe\?token=([\w.-]+)/,
    (await waitForMail(email, world.service)).headers["List-Unsubscribe"],
  );
}

/** Sends the campaign of the example to its list. */
async function sendCampaign(world: ExampleWorld): Promise<number> {
  await world.callAndExpect("PUT", "/compliance", {
    physicalAddress: "1 High Street\nLondon",
    enabled: true,
  });
  const id = await world.ensureRecord("campaigns");
  await world.callAndExpect("POST", `/campaigns/${id}/send`);
  await world.runUntilIdle();
  return id;
}

const publicArchive = async (world: ExampleWorld) => {
  const id = await world.ensureRecord("sites");
  await world.callAndExpect("PUT", `/sites/${id}`, { archive: true });
  return { path: { id } };
};

const archivedEmail: ExampleSetup = async (world) => {
  const { path } = await publicArchive(world);
  const campaignId = await sendCampaign(world);
  await world.callAndExpect("PUT", `/campaigns/${campaignId}/archive`, { archive: true });
  return { path: { ...path, campaignId } };
};

const endedCampaign: ExampleSetup = async (world) => {
  await unsubscribeToken(world);
  const path = { id: await world.ensureRecord("campaigns") };
  const hasEnded = async () => {
    const { finishedAt } = await world.callAndExpect<{ finishedAt: string | null }>(
      "GET",
      `/campaigns/${path.id}`,
    );
    return finishedAt !== null;
  };
  for (let tried = 0; tried < 100 && !(await hasEnded()); tried++) await world.runUntilIdle();
  return { path };
};

/** The mailbox of an account of the sandbox. */
async function mailboxSettings(world: ExampleWorld): Promise<object> {
  const answer = await fetch(`${world.service}/_local/sandbox`);
  const { data } = (await answer.json()) as { data: { bounceMailbox: object } };
  return { siteId: await world.ensureRecord("sites"), ...data.bounceMailbox };
}

async function setMailbox(world: ExampleWorld): Promise<void> {
  const id = await world.ensureRecord("sending-configs");
  const settings = await mailboxSettings(world);
  await world.callAndExpect("PUT", `/sending-configs/${id}/bounce-mailbox`, settings);
}

/** Starts a campaign that is still being sent when the example runs. */
async function startSlowCampaign(world: ExampleWorld): Promise<number> {
  await world.callAndExpect(
    "PUT",
    `/sending-configs/${await world.ensureRecord("sending-configs")}`,
    { ratePerSecond: 0.01 },
  );
  const contacts = Array.from({ length: 3 }, () => ({
    email: uniqueEmail(),
    lists: [] as number[],
  }));
  const listId = await world.ensureRecord("lists");
  for (const contact of contacts) contact.lists.push(listId);
  await world.callAndExpect("POST", "/contacts/bulk", { contacts });
  const id = await world.ensureRecord("campaigns");
  await world.callAndExpect("PUT", "/compliance", {
    physicalAddress: "1 High Street\nLondon",
    enabled: true,
  });
  await world.callAndExpect("POST", `/campaigns/${id}/send`);
  return id;
}

/** Sends a mail to the contact and waits for its delivered event. */
async function sendAndDeliver(world: ExampleWorld): Promise<number> {
  await world.ensureRecord("sending-configs");
  const contactId = await world.ensureRecord("contacts");
  const { id } = await world.callAndExpect("POST", "/send", {
    ...(await world.requestExample("POST /api/v1/send")),
    to: "ann@example.com",
  });
  await world.runUntilIdle();
  for (let tried = 0; tried < 100; tried++) {
    const { status } = await world.callAndExpect<{ status: string }>("GET", `/sends/${id}`);
    if (status === "delivered") return contactId;
    await world.runUntilIdle();
  }
  throw new Error("It does not arrive");
}
const afterDelivery = doFirst(sendAndDeliver);

const withDeliveredSend: ExampleSetup = async (world) => {
  await sendAndDeliver(world);
  const { sends } = await world.callAndExpect<{ sends: { id: number }[] }>("GET", "/sends");
  return { path: { id: sends[0]!.id } };
};

async function deliveryOf(world: ExampleWorld): Promise<number> {
  const id = await world.ensureRecord("webhooks");
  await sendAndDeliver(world);
  const { deliveries } = await world.callAndExpect<{ deliveries: { id: number }[] }>(
    "GET",
    `/webhooks/${id}/deliveries`,
  );
  return deliveries[0]!.id;
}

const stepId: ExampleSetup = async (world) => {
  const id = await world.ensureRecord("sequences");
  const { steps } = await world.callAndExpect<{ steps: { id: number }[] }>(
    "POST",
    `/sequences/${id}/steps`,
    await world.requestExample("POST /api/v1/sequences/{id}/steps"),
  );
  return { path: { id, stepId: steps[1]!.id } };
};

async function saveDraft(world: ExampleWorld): Promise<unknown> {
  const id = await world.ensureRecord("sequences");
  const example = await world.requestExample("PUT /api/v1/sequences/{id}/draft");
  return world.callAndExpect("PUT", `/sequences/${id}/draft`, example);
}

const variantId: ExampleSetup = async (world) => {
  const id = await world.ensureRecord("campaigns");
  const example = await world.requestExample("POST /api/v1/campaigns/{id}/variants");
  return {
    path: {
      id,
      variantId: (await world.callAndExpect("POST", `/campaigns/${id}/variants`, example)).id,
    },
  };
};

const attachmentId: ExampleSetup = async (world) => {
  const id = await world.ensureRecord("campaigns");
  const content = Buffer.from("x").toString("base64");
  const files = { attachments: [{ filename: "prices.txt", type: "text/plain", content }] };
  const changed = await world.callAndExpect<{ attachments: { id: number }[] }>(
    "PUT",
    `/campaigns/${id}`,
    files,
  );
  return { path: { id, attachmentId: changed.attachments[0]!.id } };
};

const enrolled = doFirst(async (world) => {
  const id = await world.ensureRecord("sequences");
  await world.callAndExpect("POST", `/sequences/${id}/enroll`, {
    contactIds: [await world.ensureRecord("contacts")],
  });
});

const subscribed: ExampleSetup = async (world, stripe) => {
  const { sessionId } = await world.callAndExpect<{ sessionId: string }>(
    "POST",
    "/billing/checkout",
    { plan: "starter" },
  );
  for (const event of stripe.pay(sessionId)) {
    const at = await readStripeTime(world);
    const { raw, headers } = stripe.toWebhookCall(event, { at });
    expectStatus(
      200,
      await request("POST", "/billing/webhooks", undefined, {
        raw,
        headers,
        service: world.service,
      }),
    );
  }
  return nothing;
};

const photo = async (world: ExampleWorld): Promise<ExampleOverrides> => {
  const { url } = await world.callAndExpect<{ url: string }>(
    "POST",
    "/stock-photos/save",
    await world.requestExample("POST /api/v1/stock-photos/save"),
  );
  const [, orgId = "", name = ""] = /photos\/(\d+)\/(.+)$/.exec(url) ?? [];
  return { path: { orgId, name } };
};

const consoleFile = async ({ service }: ExampleWorld): Promise<ExampleOverrides> => {
  const document = await (await fetch(`${service}/app`)).text();
  return { path: { file: matchOne(/assets\/(console-\w+\.js)/, document) } };
};

const suppressed = doFirst(async (world) =>
  world.callAndExpect(
    "POST",
    "/suppressions",
    await world.requestExample("POST /api/v1/suppressions"),
  ),
);

const form = (fields: Record<string, string>): ExampleOverrides => ({
  raw: { type: "application/x-www-form-urlencoded", text: new URLSearchParams(fields).toString() },
});

async function uploadPeople(world: ExampleWorld): Promise<ExampleOverrides> {
  const text = "email,firstName\nann@example.com,Ann\n";
  const upload = { filename: "people.csv", type: "text/csv", size: text.length, purpose: "import" };
  const { uploadId, uploadUrl } = await world.callAndExpect<{
    uploadId: string;
    uploadUrl: string;
  }>("POST", "/attachments", upload);
  await fetch(uploadUrl, { method: "PUT", headers: { "content-type": "text/csv" }, body: text });
  return { body: { ...(await world.requestExample("POST /api/v1/imports/upload")), uploadId } };
}

/** Uploads a file and returns the body of POST /media with it. */
export async function uploadPicture(world: ExampleWorld): Promise<object> {
  const upload = {
    ...{ filename: "shoes.png", type: "image/png" },
    ...{ size: tinyPicture.length, purpose: "picture" },
  };
  const { uploadId, uploadUrl } = await world.callAndExpect<{
    uploadId: string;
    uploadUrl: string;
  }>("POST", "/attachments", upload);
  const body = new Uint8Array(tinyPicture);
  await fetch(uploadUrl, { method: "PUT", headers: { "content-type": "image/png" }, body });
  return { ...(await world.requestExample("POST /api/v1/media")), uploadId };
}

const mediaFile = async (world: ExampleWorld): Promise<ExampleOverrides> => {
  const id = await world.ensureRecord("media");
  const { url } = await world.callAndExpect<{ url: string }>("GET", `/media/${id}`);
  const [orgId = "", file = ""] = url.split("/").slice(-2);
  return { path: { orgId, file } };
};

const otherContact: ExampleSetup = async (world) => {
  const { id } = await world.callAndExpect("POST", "/contacts", { email: uniqueEmail() });
  return { body: { into: id } };
};

const pendingContact: ExampleSetup = async (world) => {
  await world.ensureRecord("sending-configs");
  const contact = { email: uniqueEmail(), status: "pending" };
  return { path: { id: (await world.callAndExpect("POST", "/contacts", contact)).id } };
};

export const exampleSetups: Record<string, ExampleSetup> = {
  requestConfirmation: pendingContact,
  mergeContact: otherContact,
  signUp: async () => ({ body: { email: uniqueEmail(), password: "a long pass phrase" } }),
  logIn: async ({ email }) => ({ body: { email, password } }),
  resetPassword: async (world) => ({
    body: { token: await resetToken(world), password: "a long pass phrase" },
  }),
  changePassword: async () => ({
    body: { currentPassword: password, newPassword: "a longer pass phrase" },
  }),
  acceptInvitation: async (world) => ({
    body: { ...(await invite(world)), password: "a long pass phrase" },
  }),
  previewInvitation: async (world) => ({ body: await invite(world) }),
  getInvitationPage: async (world) => ({ query: await invite(world) }),
  submitInvitationPage: async (world) =>
    form({ ...(await invite(world)), password: "a long pass phrase" }),
  switchOrganization: async (world) => ({ body: { organizationId: await joinAnother(world) } }),
  leaveOrganization: doFirst((world) => addMember(world, "owner")),
  revokeSession: async (world) => {
    const { sessions } = await world.callAndExpect<{ sessions: { id: string }[] }>(
      "GET",
      "/auth/sessions",
    );
    return { path: { session: sessions[0]!.id } };
  },
  getPasswordResetPage: async (world) => ({ query: { token: await resetToken(world) } }),
  submitPasswordResetPage: async (world) =>
    form({ token: await resetToken(world), password: "a long pass phrase" }),
  enableTotp: async (world) => ({
    body: { code: await totpCode(world, (await setUpTotp(world)).secret) },
  }),
  disableTotp: async (world) => ({ body: { code: await enableTotp(world) } }),
  enableEmailOtp: async () => ({ body: { password } }),
  disableEmailOtp: async (world) => {
    await world.callAndExpect("POST", "/mfa/email-otp/enable");
    return { body: { password } };
  },
  replaceRecoveryCodes: async (world) => {
    await world.callAndExpect("POST", "/mfa/email-otp/enable");
    return { body: { password } };
  },
  sendMfaCode: async (world) => {
    await world.callAndExpect("POST", "/mfa/email-otp/enable");
    return { body: { mfaToken: await startLogin(world) } };
  },
  verifyMfaCode: async (world) => {
    const code = await enableTotp(world);
    return { body: { mfaToken: await startLogin(world), code } };
  },
  exportContactData: afterDelivery,
  getContactScore: doFirst(async (world) =>
    world.callAndExpect("POST", `/contacts/${await world.ensureRecord("contacts")}/score`, {
      delta: 10,
      reason: "Came to our stand",
    }),
  ),
  deleteCustomEventName: doFirst(async (world) =>
    world.callAndExpect("POST", "/events/custom", {
      contactId: await world.ensureRecord("contacts"),
      eventName: "order_placed",
    }),
  ),
  searchListContacts: withRecord("contacts"),
  listSegmentContacts: async (world) => {
    await world.ensureRecord("contacts");
    const rules = {
      match: "all",
      conditions: [{ field: "tag", operator: "equals", value: "customer" }],
    };
    return {
      path: { id: (await world.callAndExpect("POST", "/segments", { name: "All", rules })).id },
    };
  },
  previewCampaign: doFirst(makeAudience),
  previewCampaignSeries: doFirst(makeAudience),
  previewCampaignSeriesDraft: doFirst(makeAudience),
  getCampaignAudience: doFirst(async (world) =>
    world.callAndExpect("POST", "/contacts", {
      email: uniqueEmail(),
      lists: [await world.ensureRecord("lists")],
    }),
  ),
  getCampaign: doFirst(unsubscribeToken),
  getCampaignAttachment: attachmentId,
  listCampaignVariants: variantId,
  getCampaignVariant: variantId,
  updateCampaignVariant: variantId,
  deleteCampaignVariant: variantId,
  resendCampaign: endedCampaign,
  checkCampaignAudit: endedCampaign,
  cancelCampaign: async (world) => ({ path: { id: await startSlowCampaign(world) } }),
  pauseCampaign: async (world) => ({ path: { id: await startSlowCampaign(world) } }),
  resumeCampaign: async (world) => {
    const id = await startSlowCampaign(world);
    await world.callAndExpect("POST", `/campaigns/${id}/pause`);
    return { path: { id } };
  },
  updateSequence: async (world, stripe) => {
    await world.ensureRecord("sending-configs");
    return stepId(world, stripe);
  },
  listSequenceEnrollments: enrolled,
  cancelSequenceEnrollment: enrolled,
  getSequenceDetail: async (world, stripe) => {
    await stepId(world, stripe);
    return enrolled(world, stripe);
  },
  listSequenceSteps: stepId,
  updateSequenceStep: stepId,
  deleteSequenceStep: stepId,
  getSequenceDraft: doFirst(saveDraft),
  deleteSequenceDraft: doFirst(saveDraft),
  publishSequenceDraft: doFirst(saveDraft),
  triggerSequenceWebhook: async (world) => {
    const { webhookUrl } = await world.callAndExpect<{ webhookUrl: string }>(
      "GET",
      `/sequences/${await world.ensureRecord("sequences")}`,
    );
    return { path: { secret: matchOne(/\/wh\/sq\/([\w-]+)$/, webhookUrl) } };
  },
  listFormSubmissions: doFirst(confirmationToken),
  getFormConfirmationPage: async (world) => ({ path: { token: await confirmationToken(world) } }),
  confirmFormSubmission: async (world) => ({
    path: { token: await confirmationToken(world) },
    ...form({}),
  }),
  createForm: withRecord("sending-configs"),
  sendEmail: withRecord("sending-configs"),
  sendEmailBatch: withRecord("sending-configs"),
  previewEmailBatch: withRecord("sending-configs"),
  sendEmailList: withRecord("sending-configs"),
  receiveResendEmail: withRecord("sending-configs"),
  receiveResendBatch: withRecord("sending-configs"),
  getResendEmail: withDeliveredSend,
  receivePostmarkEmail: withRecord("sending-configs"),
  receivePostmarkBatch: withRecord("sending-configs"),
  receivePostmarkTemplateEmail: withRecord("sending-configs"),
  receivePostmarkTemplateBatch: withRecord("sending-configs"),
  receiveSendgridMail: withRecord("sending-configs"),
  sendTemplateTests: withRecord("sending-configs"),
  listSends: afterDelivery,
  getSend: withDeliveredSend,
  getSendContent: withDeliveredSend,
  cancelSend: async (world) => {
    await world.ensureRecord("sending-configs");
    const scheduledAt = new Date(Date.now() + 86_400_000).toISOString();
    return {
      path: {
        id: (
          await world.callAndExpect("POST", "/send", {
            ...(await world.requestExample("POST /api/v1/send")),
            scheduledAt,
          })
        ).id,
      },
    };
  },
  listEvents: afterDelivery,
  explainSend: afterDelivery,
  listCustomEvents: doFirst(async (world) => {
    await world.ensureRecord("contacts");
    await world.callAndExpect(
      "POST",
      "/events/custom",
      await world.requestExample("POST /api/v1/events/custom"),
    );
  }),
  createCustomEvent: withRecord("contacts"),
  deleteSuppression: suppressed,
  checkSuppression: suppressed,
  exportSuppressions: suppressed,
  updateBounceMailbox: async (world) => ({ body: await mailboxSettings(world) }),
  getBounceMailbox: doFirst(setMailbox),
  deleteBounceMailbox: doFirst(setMailbox),
  updatePostmasterTools: async () => ({ body: { serviceAccountKey: keyFile() } }),
  getPostmasterTools: doFirst(async (world) => {
    await world.callAndExpect("PUT", "/postmaster-tools", { serviceAccountKey: keyFile() });
  }),
  listInboundEmails: withRecord("inbound-emails"),
  getInboundEmail: withRecord("inbound-emails"),
  listSecureMessages: withRecord("secure-messages"),
  getSecureMessagePage: async (world) => ({ path: { token: await secureToken(world) } }),
  getSecureMessageFile: async (world) => ({ path: { file: await secureFileToken(world) } }),
  viewSecureMessage: async (world) => ({ path: { token: await secureToken(world) }, ...form({}) }),
  getDashboardOverview: doFirst(sendCampaign),
  getAnalyticsOverview: afterDelivery,
  getDeliverability: afterDelivery,
  listSequenceFunnels: enrolled,
  listContactsWithoutSequences: withRecord("contacts"),
  createImport: uploadPeople,
  previewImport: uploadPeople,
  getContactFieldConversion: doFirst(async (world) => {
    const id = await world.ensureRecord("contacts");
    await world.callAndExpect("PUT", `/contacts/${id}`, { customFields: { plan: "7" } });
    const declare = (type: string) =>
      world.callAndExpect("PUT", "/contact-fields/plan", { label: "Plan", type });
    await declare("text");
    await declare("number");
  }),
  deleteContactField: doFirst((world) =>
    world.callAndExpect("PUT", "/contact-fields/plan", { label: "Plan" }),
  ),
  listImports: withRecord("imports"),
  listJobs: withRecord("imports"),
  changePlan: subscribed,
  cancelPlan: subscribed,
  getCurrentPlan: subscribed,
  getSubscription: subscribed,
  createPortalSession: subscribed,
  receiveStripeEvent: async (world, stripe) => {
    const { sessionId } = await world.callAndExpect<{ sessionId: string }>(
      "POST",
      "/billing/checkout",
      { plan: "starter" },
    );
    const at = await readStripeTime(world);
    const { raw, headers } = stripe.toWebhookCall(stripe.pay(sessionId)[0]!, { at });
    return { raw: { type: "application/json", text: raw.toString(), headers } };
  },
  unsubscribeOneClick: async (world) => ({
    query: { token: await unsubscribeToken(world) },
    ...form({ "List-Unsubscribe": "One-Click" }),
  }),
  getOneClickPage: async (world) => ({ query: { token: await unsubscribeToken(world) } }),
  viewArchive: publicArchive,
  viewArchiveFeed: publicArchive,
  viewArchivedEmail: archivedEmail,
  viewEmailLink: async (world) => ({ path: await trackedLink(world) }),
  viewEmailInBrowser: async () => ({ path: { token: "preview" } }),
  getUnsubscribePage: async (world) => ({ path: { token: await unsubscribeToken(world) } }),
  submitUnsubscribePage: async (world) => ({ path: { token: await unsubscribeToken(world) } }),
  listWebhookDeliveries: doFirst(deliveryOf),
  retryWebhookDelivery: async (world) => ({ path: { deliveryId: await deliveryOf(world) } }),
  getStockPhotoFile: photo,
  createMedia: async (world) => ({ body: await uploadPicture(world) }),
  getMediaFile: mediaFile,
  getConsoleFile: consoleFile,
};
