import { describe, expect, inject, test } from "vitest";
import { expectStatus, signedUp, type TestClient, waitForMail } from "../support/api-client.ts";

interface Sequence {
  id: number;
  status: string;
  webhookUrl: string;
  name: string;
}
interface Step {
  id: number;
  stepOrder: number;
  type: string;
}
interface Enrollment {
  id: number;
  contactId: number;
  status: string;
  failureReason: string | null;
}
type Entered = { enrolled: number; unchanged: number; failed: object[]; enrollments: Enrollment[] };

const make = async ({ call }: TestClient, body: object = { name: "Welcome" }) =>
  expectStatus(201, await call<Sequence>("POST", "/sequences", body)).body.data;
const contact = async ({ call }: TestClient, email: string) =>
  expectStatus(201, await call<{ id: number }>("POST", "/contacts", { email })).body.data.id;
const template = async ({ call }: TestClient, subject: string) =>
  expectStatus(
    201,
    await call<{ id: number }>("POST", "/templates", {
      name: subject,
      subject,
      html: `<p>${subject}</p>`,
    }),
  ).body.data.id;
/** Creates a sending config with credentials of the local sandbox. */
async function config({ call }: TestClient): Promise<number> {
  const sandbox = (await (await fetch(`${inject("baseUrl")}/_local/sandbox`)).json()) as {
    data: { providers: Record<string, { credentials: object }> };
  };
  const { credentials } = sandbox.data.providers.resend!;
  const given = { provider: "resend", fromEmail: "hi@shop.example", credentials };
  return expectStatus(201, await call<{ id: number }>("POST", "/sending-configs", given)).body.data
    .id;
}
const add = async ({ call }: TestClient, id: number, body: object) =>
  expectStatus(201, await call<{ steps: Step[] }>("POST", `/sequences/${id}/steps`, body)).body.data
    .steps;

describe("records", () => {
  test("only callers who may enroll contacts see the webhook URL", async () => {
    const client = await signedUp();
    const { id, webhookUrl } = await make(client);
    const enroller = {
      as: { key: await client.newKey({ scopes: ["marketing:write", "sequences:read"] }) },
    };
    const reader = { as: { key: await client.newKey({ scopes: ["sequences:read"] }) } };
    for (const path of ["/sequences", `/sequences/${id}`, `/sequences/${id}/detail`]) {
      expect((await client.call("GET", path, undefined, enroller)).text).toContain(webhookUrl);
      const answer = await client.call("GET", path, undefined, reader);
      expect(expectStatus(200, answer).text).toContain('"webhookUrl":null');
      expect(answer.text).toContain('"callSecret":null');
    }
  });

  test("a sequence is created, changed, listed and deleted", async () => {
    const client = await signedUp();
    const made = await make(client, { name: "Welcome" });
    expect(made).toEqual({
      id: expect.any(Number),
      siteId: client.siteId,
      name: "Welcome",
      status: "draft",
      statusReason: null,
      triggerType: "manual",
      triggerConfig: null,
      sendingConfigId: null,
      ...{ fromEmail: null, fromName: null, replyTo: null },
      topicId: null,
      utm: null,
      autoBcc: null,
      sendWindow: null,
      goals: [],
      exits: [],
      webhookUrl: expect.stringMatching(/\/api\/v1\/wh\/sq\/[\w-]{40,}$/),
      callSecret: expect.stringMatching(/^[\w-]{40,}$/),
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    const changes = {
      name: "Hello",
      triggerType: "tag_add",
      triggerConfig: { tagName: "vip" },
      autoBcc: "boss@shop.example",
      sendWindow: { days: [1, 2], from: "09:00", until: "17:00", timezone: "Europe/Berlin" },
    };
    const changed = expectStatus(
      200,
      await client.call<Sequence>("PUT", `/sequences/${made.id}`, changes),
    ).body.data;
    expect(changed).toMatchObject(changes);
    expect(
      expectStatus(200, await client.call<Sequence>("GET", `/sequences/${made.id}`)).body.data,
    ).toEqual(changed);
    await make(client, { name: "Second" });
    const listed = expectStatus(
      200,
      await client.call<{ sequences: Sequence[] }>("GET", `/sequences?siteId=${client.siteId}`),
    ).body.data.sequences;
    expect(listed.map(({ name }) => name)).toEqual(["Second", "Hello"]);
    expect((await client.call("DELETE", `/sequences/${made.id}`)).body.data).toEqual({
      id: made.id,
      deleted: true,
    });
    for (const path of ["", "/detail", "/steps", "/enrollments"])
      expect((await client.call("GET", `/sequences/${made.id}${path}`)).status).toBe(404);
  });

  test("a sequence becomes active only when it is complete", async () => {
    const client = await signedUp();
    const { id } = await make(client);
    const activate = () => client.call("PUT", `/sequences/${id}`, { status: "active" });
    expect(await activate()).toMatchObject({
      status: 400,
      body: { error: "The sequence cannot be active: the sequence has no steps" },
    });
    const [first] = await add(client, id, { type: "email" });
    expect(await activate()).toMatchObject({
      status: 400,
      body: { error: "The sequence cannot be active: step 1: templateId is needed" },
    });
    const templateId = await template(client, "Hi");
    expectStatus(
      200,
      await client.call("PUT", `/sequences/${id}/steps/${first!.id}`, { templateId }),
    );
    expect(await activate()).toMatchObject({ status: 400, body: { code: "no_sending_config" } });
    const sendingConfigId = await config(client);
    expectStatus(
      200,
      await client.call("PUT", `/sequences/${id}`, { sendingConfigId, triggerType: "list_join" }),
    );
    expect(await activate()).toMatchObject({
      status: 400,
      body: { details: [{ path: "triggerConfig.listId" }] },
    });
    expectStatus(200, await client.call("PUT", `/sequences/${id}`, { triggerType: "manual" }));
    expect(await activate()).toMatchObject({ status: 200, body: { data: { status: "active" } } });
    const bad = { templateId: null };
    expect((await client.call("PUT", `/sequences/${id}/steps/${first!.id}`, bad)).status).toBe(400);
  });

  test.each([
    ["name", { name: " " }],
    ["triggerType", { name: "x", triggerType: "moon" }],
    ["triggerConfig.score", { name: "x", triggerType: "tag_add", triggerConfig: { score: 3 } }],
    ["triggerConfig", { name: "x", triggerType: "tag_add", triggerConfig: { colour: 3 } }],
    ["autoBcc", { name: "x", autoBcc: "nobody" }],
    ["sendWindow.from", { name: "x", sendWindow: { from: "18:00", until: "09:00" } }],
    ["sendWindow.timezone", { name: "x", sendWindow: { timezone: "Mars/Base" } }],
  ])("a bad %s is refused", async (path, body) => {
    const client = await signedUp();
    expect(await client.call("POST", "/sequences", body)).toMatchObject({
      status: 400,
      body: { details: [{ path }] },
    });
  });
});

describe("steps", () => {
  test("are added 200 at a time, listed in order, changed and removed", async () => {
    const client = await signedUp();
    const { id } = await make(client);
    const delays = Array.from({ length: 200 }, () => ({ type: "delay", delayMinutes: 5 }));
    expect(await add(client, id, { steps: delays })).toHaveLength(200);
    expect(
      (await client.call("POST", `/sequences/${id}/steps`, { steps: [...delays, delays[0]] }))
        .status,
    ).toBe(400);
    const steps = expectStatus(
      200,
      await client.call<{ steps: Step[] }>("GET", `/sequences/${id}/steps`),
    ).body.data.steps;
    expect(steps.map(({ stepOrder }) => stepOrder)).toEqual(delays.map((_, i) => i + 1));
    const [first, second] = steps;
    const changed = await client.call("PUT", `/sequences/${id}/steps/${first!.id}`, {
      delayMinutes: 60,
    });
    expect(changed).toMatchObject({
      status: 200,
      body: { data: { id: first!.id, delayMinutes: 60, stepOrder: 1 } },
    });
    expect((await client.call("DELETE", `/sequences/${id}/steps/${second!.id}`)).body.data).toEqual(
      { id: second!.id, deleted: true },
    );
    expect((await client.call("DELETE", `/sequences/${id}/steps/${second!.id}`)).status).toBe(404);
    expect(
      (
        await client.call("POST", `/sequences/${id}/steps`, {
          type: "delay",
          stepOrder: 1,
          delayMinutes: 1,
        })
      ).status,
    ).toBe(400);
    expectStatus(
      201,
      await client.call("POST", `/sequences/${id}/steps`, {
        type: "delay",
        stepOrder: 1,
        delayMinutes: 1,
        insert: true,
      }),
    );
  });

  test.each([
    ["steps", {}],
    ["steps.0.type", { steps: [{ type: "sms" }] }],
    ["steps.0.delayMinutes", { steps: [{ type: "delay", delayMinutes: -1 }] }],
    ["templateId", { type: "email", templateId: 999_999_999 }],
    ["nextStepOrder", { type: "delay", stepOrder: 3, nextStepOrder: 3 }],
    [
      "conditionConfig.conditions.0.field",
      {
        type: "condition",
        conditionConfig: { match: "all", conditions: [{ field: "moon", operator: "exists" }] },
      },
    ],
    [
      "conditionConfig",
      { type: "condition", conditionConfig: { field: "step.7.opened", operator: "exists" } },
    ],
  ])("a bad %s is refused", async (path, body) => {
    const client = await signedUp();
    const { id } = await make(client);
    const refused = await client.call("POST", `/sequences/${id}/steps`, body);
    expect(refused).toMatchObject({ status: 400, body: { details: [{ path }] } });
    expect(
      (await client.call<{ steps: Step[] }>("GET", `/sequences/${id}/steps`)).body.data.steps,
    ).toEqual([]);
  });

  test("all steps are replaced at once, with the send window, or none", async () => {
    const client = await signedUp();
    const { id } = await make(client);
    const [first] = await add(client, id, { type: "delay", delayMinutes: 5 });
    const path = `/sequences/${id}/steps`;
    const before = (await client.call("GET", path)).body.data;
    expect(before).toMatchObject({ stepsVersion: 1 });
    const bad = await client.call("PUT", path, {
      stepsVersion: 1,
      steps: [
        { id: first!.id, type: "delay", delayMinutes: 7 },
        { type: "email", templateId: 999_999_999 },
      ],
    });
    expect(bad).toMatchObject({
      status: 400,
      body: { details: [{ path: "steps.1.templateId" }] },
    });
    expect((await client.call("GET", path)).body.data).toEqual(before);
    const sendWindow = { days: [1], from: "09:00", until: "17:00", timezone: "UTC" };
    const saved = await client.call("PUT", path, {
      stepsVersion: 1,
      steps: [
        { type: "delay", delayMinutes: 1 },
        { id: first!.id, type: "delay", delayMinutes: 5 },
      ],
      sendWindow,
    });
    expect(saved).toMatchObject({
      status: 200,
      body: {
        data: {
          stepsVersion: 2,
          steps: [
            { stepOrder: 1, delayMinutes: 1 },
            { id: first!.id, stepOrder: 2, delayMinutes: 5 },
          ],
        },
      },
    });
    expect((await client.call("GET", `/sequences/${id}/detail`)).body.data).toMatchObject({
      stepsVersion: 2,
      sendWindow,
      steps: [{ stats: { waiting: 0 } }, { id: first!.id }],
    });
    expect(await client.call("PUT", path, { stepsVersion: 1, steps: [] })).toMatchObject({
      status: 409,
      body: { code: "steps_changed" },
    });
  });

  test("a draft of the steps is saved, shows what it does, and is published or discarded", async () => {
    const client = await signedUp();
    const { id } = await make(client);
    const [first, second] = await add(client, id, {
      steps: [
        { type: "delay", delayMinutes: 60 },
        { type: "delay", delayMinutes: 60 },
      ],
    });
    expectStatus(200, await client.call("PUT", `/sequences/${id}`, { status: "active" }));
    const contactId = await contact(client, "ann@x.com");
    expectStatus(200, await client.call("POST", `/sequences/${id}/enroll`, { contactId }));
    const path = `/sequences/${id}/draft`;
    await expect
      .poll(async () => (await client.call("GET", `/sequences/${id}/detail`)).body.data)
      .toMatchObject({ steps: [{ stats: { waiting: 1 } }, {}] });
    expect((await client.call("GET", path)).status).toBe(404);
    const steps = [{ type: "email" }, { id: second!.id, type: "delay", delayMinutes: 90 }];
    const body = { draftVersion: 0, stepsVersion: 1, steps };
    expect(await client.call("PUT", path, { ...body, stepsVersion: 2 })).toMatchObject({
      status: 400,
      body: { details: [{ path: "stepsVersion" }] },
    });
    const wrong = { ...body, steps: [{ type: "email", templateId: 999_999_999 }] };
    expect(await client.call("PUT", path, wrong)).toMatchObject({
      status: 400,
      body: { details: [{ path: "steps.0.templateId" }] },
    });
    const saved = {
      draftVersion: 1,
      stepsVersion: 1,
      isStale: false,
      steps: [
        { type: "email", stepOrder: 1 },
        { id: second!.id, delayMinutes: 90 },
      ],
      problems: ["step 1: templateId is needed"],
      effects: [
        { stepId: first!.id, stepOrder: 1, effect: "deleted", continuesAt: 2, waiting: 1 },
        { stepId: second!.id, stepOrder: 2, effect: "changed", continuesAt: 2, waiting: 0 },
      ],
    };
    expect((await client.call("PUT", path, body)).body.data).toMatchObject(saved);
    expect((await client.call("PUT", path, body)).body.data).toMatchObject(saved);
    expect((await client.call("GET", `/sequences/${id}/steps`)).body.data).toMatchObject({
      stepsVersion: 1,
      steps: [{ id: first!.id }, { delayMinutes: 60 }],
    });
    expect(await client.call("PUT", path, { ...body, steps: [] })).toMatchObject({
      status: 409,
      body: { code: "draft_changed" },
    });
    expect(await client.call("POST", `${path}/publish`, {})).toMatchObject({
      status: 400,
      body: { details: [{ path: "steps.0.templateId" }] },
    });
    const [, kept] = steps;
    const changed = { ...body, draftVersion: 1, steps: [kept] };
    expectStatus(200, await client.call("PUT", path, changed));
    await add(client, id, { type: "exit" });
    expect((await client.call("GET", path)).body.data).toMatchObject({ isStale: true });
    expect(await client.call("POST", `${path}/publish`, {})).toMatchObject({
      status: 409,
      body: { code: "steps_changed" },
    });
    const published = await client.call("POST", `${path}/publish`, { stepsVersion: 2 });
    expect(expectStatus(200, published).body.data).toMatchObject({
      stepsVersion: 3,
      steps: [{ id: second!.id, delayMinutes: 90 }],
    });
    expect((await client.call("GET", path)).status).toBe(404);
    expectStatus(200, await client.call("PUT", path, { ...body, stepsVersion: 3, steps: [kept] }));
    expectStatus(200, await client.call("DELETE", path));
    expect((await client.call("DELETE", path)).status).toBe(404);
  });

  test("a step that was deleted since a draft was saved is a new step when that is published", async () => {
    const client = await signedUp();
    const { id } = await make(client);
    const [first] = await add(client, id, { type: "delay", delayMinutes: 5 });
    const path = `/sequences/${id}/draft`;
    const steps = [{ id: first!.id, type: "delay", delayMinutes: 7 }];
    const body = { draftVersion: 0, stepsVersion: 1, steps };
    expectStatus(200, await client.call("PUT", path, body));
    expectStatus(200, await client.call("DELETE", `/sequences/${id}/steps/${first!.id}`));
    const published = await client.call<{ steps: Step[] }>("POST", `${path}/publish`, {
      stepsVersion: 2,
    });
    const [step, ...others] = expectStatus(200, published).body.data.steps;
    expect(step).toMatchObject({ type: "delay", delayMinutes: 7 });
    expect([step!.id === first!.id, others]).toEqual([false, []]);
  });

  test("segment rules cannot refer to steps", async () => {
    const client = await signedUp();
    const rules = { match: "all", conditions: [{ field: "step.1.opened", operator: "exists" }] };
    expect((await client.call("POST", "/segments", { name: "x", rules })).status).toBe(400);
  });
});

describe("enrollments", () => {
  test("contacts are enrolled once, listed, and cancelled by contact id or enrollment id", async () => {
    const client = await signedUp();
    const { id } = await make(client);
    await add(client, id, { type: "delay", delayMinutes: 60 });
    expectStatus(200, await client.call("PUT", `/sequences/${id}`, { status: "active" }));
    const [ann, bob, cid] = [
      await contact(client, "ann@x.com"),
      await contact(client, "bob@x.com"),
      await contact(client, "cid@x.com"),
    ];
    const body = { contactIds: [ann, bob, 999_999_999] };
    const entered = expectStatus(
      200,
      await client.call<Entered>("POST", `/sequences/${id}/enroll`, body),
    ).body.data;
    expect(entered).toMatchObject({
      enrolled: 2,
      unchanged: 0,
      failed: [{ contactId: 999_999_999, error: "The contact does not exist" }],
    });
    expect(
      expectStatus(
        201,
        await client.call<Entered>("POST", `/sequences/${id}/enrollments`, { contactId: cid }),
      ).body.data,
    ).toMatchObject({
      enrolled: 1,
    });
    expect(
      expectStatus(
        200,
        await client.call<Entered>("POST", `/sequences/${id}/enroll`, { contactIds: [ann] }),
      ).body.data,
    ).toMatchObject({
      unchanged: 1,
    });
    const of = async (query = "") =>
      expectStatus(
        200,
        await client.call<{
          enrollments: (Enrollment & { contactEmail: string | null })[];
          pagination: { total: number; nextCursor: string };
        }>("GET", `/sequences/${id}/enrollments${query}`),
      ).body.data;
    const listed = (await of()).enrollments;
    expect(listed.map(({ contactId, contactEmail }) => [contactId, contactEmail])).toEqual([
      [cid, "cid@x.com"],
      [bob, "bob@x.com"],
      [ann, "ann@x.com"],
    ]);
    const page = await of("?limit=2");
    expect(page.pagination.total).toBe(3);
    expect(
      (await of(`?limit=2&cursor=${page.pagination.nextCursor}`)).enrollments.map(
        ({ contactId }) => contactId,
      ),
    ).toEqual([ann]);
    const { id: enrollmentId } = entered.enrollments.find(({ contactId }) => contactId === ann)!;
    const cancelled = await client.call<Enrollment>(
      "DELETE",
      `/sequences/${id}/enrollments?enrollmentId=${enrollmentId}`,
    );
    expect(cancelled).toMatchObject({
      status: 200,
      body: { data: { id: enrollmentId, contactId: ann, status: "cancelled" } },
    });
    expectStatus(
      200,
      await client.call("DELETE", `/sequences/${id}/enrollments`, { contactId: bob }),
    );
    expect(
      (await client.call("DELETE", `/sequences/${id}/enrollments`, { contactId: bob })).status,
    ).toBe(404);
    expect((await client.call("DELETE", `/sequences/${id}/enrollments`)).status).toBe(400);
    expect((await of("?status=cancelled")).enrollments.map(({ contactId }) => contactId)).toEqual([
      bob,
      ann,
    ]);
    expect((await of()).enrollments.map(({ status }) => status)).toEqual([
      "active",
      "cancelled",
      "cancelled",
    ]);
    const { body: detail } = await client.call("GET", `/sequences/${id}/detail`);
    expect(detail.data).toMatchObject({
      stats: { active: 1, completed: 0, cancelled: 2, failed: 0 },
      steps: [{ stats: { reached: expect.any(Number) } }],
    });
  });

  test("a tag starts a sequence and its mail is sent; startAtStep skips earlier steps", async () => {
    const client = await signedUp();
    const sendingConfigId = await config(client);
    const { id } = await make(client, {
      name: "VIP",
      triggerType: "tag_add",
      triggerConfig: { tagName: "vip" },
      sendingConfigId,
    });
    const word = crypto.randomUUID().slice(0, 8);
    const [first, second] = [
      await template(client, `First ${word}`),
      await template(client, `Second ${word}`),
    ];
    await add(client, id, {
      steps: [
        { type: "email", templateId: first },
        { type: "delay", delayMinutes: 9999 },
        { type: "email", templateId: second },
      ],
    });
    expectStatus(200, await client.call("PUT", `/sequences/${id}`, { status: "active" }));
    const [ann, bob] = [`ann-${word}@example.com`, `bob-${word}@example.com`];
    expectStatus(
      200,
      await client.call("POST", `/contacts/${await contact(client, ann)}/tags`, { name: "VIP" }),
    );
    expect((await waitForMail(ann)).subject).toBe(`First ${word}`);
    const late = { contactIds: [await contact(client, bob)], startAtStep: 3 };
    expectStatus(200, await client.call("POST", `/sequences/${id}/enroll`, late));
    const mail = await waitForMail(bob);
    expect(mail.subject).toBe(`Second ${word}`);
    expect(mail.headers).toMatchObject({ "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" });
    expect(
      (await client.call("POST", `/sequences/${id}/enroll`, { ...late, startAtStep: 9 })).status,
    ).toBe(400);
  });

  test("an archived sequence and contacts of another site are refused", async () => {
    const client = await signedUp();
    const { id } = await make(client);
    const blog = expectStatus(
      201,
      await client.call<{ id: number }>("POST", "/sites", { name: "Blog" }),
    ).body.data.id;
    const stranger = expectStatus(
      201,
      await client.call<{ id: number }>("POST", "/contacts", { siteId: blog, email: "x@x.com" }),
    ).body.data.id;
    const entered = expectStatus(
      200,
      await client.call<Entered>("POST", `/sequences/${id}/enroll`, { contactIds: [stranger] }),
    ).body.data;
    expect(entered.failed).toEqual([
      { contactId: stranger, error: "The contact belongs to another site" },
    ]);
    expectStatus(200, await client.call("PUT", `/sequences/${id}`, { status: "archived" }));
    expect(
      await client.call("POST", `/sequences/${id}/enroll`, { contactIds: [stranger] }),
    ).toMatchObject({
      status: 409,
      body: { code: "sequence_archived" },
    });
    const bound = await client.newKey({ siteId: blog });
    expect(
      (await client.call("GET", `/sequences/${id}`, undefined, { as: { key: bound } })).status,
    ).toBe(403);
  });
});

describe("the webhook", () => {
  const callWebhook = async (url: string, body: unknown) => {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return {
      status: response.status,
      body: (await response.json()) as { data: Record<string, unknown> },
    };
  };

  test("creates, enrolls and cancels with its secret alone, until the secret is rotated", async () => {
    const client = await signedUp();
    const { id, webhookUrl } = await make(client);
    await add(client, id, { type: "delay", delayMinutes: 60 });
    const ann = { email: "Ann@x.com", firstName: "Ann", customFields: { plan: "pro" } };
    const first = await callWebhook(webhookUrl, { ...ann, action: "enroll" });
    expect(first).toEqual({
      status: 200,
      body: {
        data: { action: "enroll", contactId: expect.any(Number), changed: true, reason: null },
      },
    });
    expect(await callWebhook(webhookUrl, ann)).toMatchObject({
      body: { data: { changed: false } },
    });
    const { contactId } = first.body.data;
    const found = expectStatus(200, await client.call("GET", `/contacts/${contactId}`)).body.data;
    expect(found).toMatchObject({
      email: "Ann@x.com",
      firstName: "Ann",
      customFields: { plan: "pro" },
    });
    expect(await callWebhook(webhookUrl, { email: "ann@x.com", action: "cancel" })).toMatchObject({
      body: { data: { contactId, changed: true } },
    });
    expect(await callWebhook(webhookUrl, { email: "ann@x.com", action: "cancel" })).toMatchObject({
      status: 200,
      body: { data: { changed: false } },
    });
    expect(await callWebhook(webhookUrl, { email: "no@x.com", action: "cancel" })).toMatchObject({
      body: { data: { contactId: null, changed: false } },
    });
    expect((await callWebhook(webhookUrl, { email: "nobody" })).status).toBe(400);
    expectStatus(
      200,
      await client.call("PUT", `/contacts/${contactId}`, { status: "unsubscribed" }),
    );
    expect(await callWebhook(webhookUrl, ann)).toMatchObject({
      status: 200,
      body: { data: { changed: false, reason: "The contact is unsubscribed" } },
    });
    const rotated = expectStatus(
      200,
      await client.call<Sequence>("POST", `/sequences/${id}/webhook/rotate`),
    ).body.data.webhookUrl;
    expect(rotated).not.toBe(webhookUrl);
    expect((await callWebhook(webhookUrl, ann)).status).toBe(404);
    expect(
      (await callWebhook(`${rotated.slice(0, -1)}${rotated.endsWith("A") ? "B" : "A"}`, ann))
        .status,
    ).toBe(404);
    expect((await callWebhook(rotated, ann)).status).toBe(200);
    expectStatus(200, await client.call("DELETE", `/sequences/${id}`));
    expect((await callWebhook(rotated, ann)).status).toBe(404);
  });
});

describe("playbooks", () => {
  interface Made {
    sequence: Sequence;
    steps: Step[];
    templates: { id: number; subject: string }[];
  }

  test("are listed for every caller, and each creates a draft that can be activated at once", async () => {
    const client = await signedUp();
    const sendingConfigId = await config(client);
    const { playbooks } = expectStatus(
      200,
      await client.call<{
        playbooks: { id: number; key: string; emails: number; steps: object[] }[];
      }>("GET", "/sequences/playbooks", undefined, { as: "anonymous" }),
    ).body.data;
    expect(playbooks.map(({ key }) => key)).toEqual([
      "welcome",
      "onboarding",
      "trial-ending",
      "abandoned-cart",
      "post-purchase",
      "win-back",
      "re-engagement",
      "event-follow-up",
      "birthday",
      "renewal",
    ]);
    for (const { id, emails, steps } of playbooks) {
      const made = expectStatus(
        201,
        await client.call<Made>("POST", `/sequences/playbooks/${id}/create`, {
          sendingConfigId,
          url: "https://shop.example/it's",
        }),
      ).body.data;
      expect([made.templates.length, made.steps.length, made.sequence.status]).toEqual([
        emails,
        steps.length,
        "draft",
      ]);
      for (const { id: templateId } of made.templates) {
        const variables = { firstName: "Ann <3", email: "a@x.com" };
        const { subject, html, text } = expectStatus(
          200,
          await client.call<{ subject: string; html: string; text: string }>(
            "POST",
            `/templates/${templateId}/render`,
            { variables },
          ),
        ).body.data;
        expect(`${subject}${html}${text}`).not.toMatch(/\[\[|\]\]|\{\{|\{%|undefined/);
        expect(html).toContain("Ann &lt;3");
        expect(html).toContain("The team at Shop");
        expect(text).toContain("The team at Shop");
      }
      expectStatus(
        200,
        await client.call("PUT", `/sequences/${made.sequence.id}`, { status: "active" }),
      );
    }
    expect((await client.call("POST", "/sequences/playbooks/99/create", {})).status).toBe(404);
  });

  test("without a domain or URL warn where the buttons lead", async () => {
    const client = await signedUp();
    const made = expectStatus(
      201,
      await client.call<Made>("POST", "/sequences/playbooks/1/create", {
        companyName: "A & B {{ x }}",
      }),
    );
    expect(made.body.warnings?.join()).toContain("https://example.com");
    const { html } = expectStatus(
      200,
      await client.call<{ html: string }>("GET", `/templates/${made.body.data.templates[0]!.id}`),
    ).body.data;
    expect(html).toContain("The team at A &amp; B  x");
  });
});
