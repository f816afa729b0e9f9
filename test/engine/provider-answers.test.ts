// Every provider accepts the mail, but its response does not say so: no mail goes out twice.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { get, update, write } from "../../shared/adapters/dynamodb/table.ts";
import { WebClient } from "../../shared/adapters/http/client.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { NewSendingConfig } from "../../shared/domain/senders/sending-config-schema.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import { idempotencyPrefix } from "../../shared/kernel/installation-secrets.ts";
import { keys } from "../../shared/keys.ts";
import type { ProviderAdapter } from "../../shared/providers/provider-adapter.ts";
import { createAccount } from "../support/accounts.ts";
import { apiProviders } from "../support/api-providers.ts";
import type { ProviderApi } from "../support/provider-apis/provider-api.ts";
import type { CannedReply, RecordedRequest } from "../support/provider-apis/recording-server.ts";
import { sampleOf } from "../support/seeded-random.ts";
import * as mailTest from "../support/sending.ts";

const { open } = WebClient.prototype;
beforeAll(async () => {
  await mailTest.useOwnTableAndQueues();
  // Shortens the timeout of provider calls from 25 seconds to one.
  WebClient.prototype.open = function (request) {
    return open.call(this, {
      ...request,
      ...(request.timeoutSeconds === 25 && { timeoutSeconds: 1 }),
    });
  };
});
afterAll(() => {
  WebClient.prototype.open = open;
});
beforeEach(() => mailTest.pendingMessages.splice(0));

const page = "<html><title>Something went wrong</title></html>";
/** Responses of the fake provider after it has accepted the mail. */
const faults: Record<string, CannedReply | "reset" | "hang" | "half"> = {
  "408": { status: 408, body: page },
  "500": { status: 500, body: '{"message":"Internal error"}' },
  "502": { status: 502, body: page },
  "503": { status: 503, body: page },
  "504": { status: 504, body: page },
  reset: "reset",
  hang: "hang",
  half: "half",
  html: { status: 200, headers: { "content-type": "text/html" }, body: page },
};

/** Responses of a provider that has not accepted the mail, and asks for a pause. */
const pauses = [429, 503].map((status) => ({ status, headers: { "retry-after": "1" } }));

interface AmbiguousProvider {
  /** Send ids in the order in which their mail was accepted. */
  accepted: number[];
  requests: { key: string | undefined; body: string }[];
  /** The fault of the n-th request, counted from 1. */
  faultFor: (
    n: number,
  ) => { reply: CannedReply | "reset" | "hang" | "half"; accepts: boolean } | undefined;
  stop(): void;
}

const keyOf = ({ key }: ProviderAdapter, { headers, body }: RecordedRequest): string | undefined =>
  key === "brevo" ? JSON.parse(body.toString()).headers.idempotencyKey : headers["idempotency-key"];

/** The response to an accepted request. Results of Mandrill contain the address. */
function success(
  { key }: ProviderAdapter,
  wire: ProviderApi,
  mails: { to: { email: string } }[],
): CannedReply {
  if (key !== "mandrill") return wire.success(mails.length);
  return {
    status: 200,
    body: JSON.stringify(mails.map(({ to: { email } }) => ({ email, status: "sent", _id: email }))),
  };
}

async function startProvider(
  provider: ProviderAdapter,
  wire: ProviderApi,
): Promise<AmbiguousProvider> {
  const answered = new Map<string, CannedReply>();
  const server = createServer(async (incoming, response) => {
    const body = await buffer(incoming);
    const { method = "", url: path = "", headers } = incoming;
    // The credentials do not permit the limits of the account to be read.
    if (method === "GET") return response.writeHead(403).end();
    const request: RecordedRequest = {
      method,
      path,
      headers: headers as Record<string, string>,
      body,
      port: undefined,
    };
    const key = keyOf(provider, request);
    state.requests.push({ key, body: body.toString("base64") });
    const fault = state.faultFor(state.requests.length);
    const known = key && answered.get(key);
    const mails = await wire.readMails(request);
    const answer = known || success(provider, wire, mails);
    if (!known && (fault?.accepts ?? true)) {
      state.accepted.push(...mails.map(({ sendId }) => Number(sendId)));
      const duplicate = {
        status: 400,
        body: '{"code":"duplicate_parameter","message":"The key was used"}',
      };
      if (key) answered.set(key, provider.key === "brevo" ? duplicate : answer);
    }
    const reply = fault?.reply ?? answer;
    if (reply === "hang") return;
    if (reply === "reset") return incoming.socket.destroy();
    if (reply !== "half") return response.writeHead(reply.status, reply.headers).end(reply.body);
    const text = answer.body || "{}";
    response.writeHead(answer.status, { ...answer.headers, "content-length": text.length + 1 });
    response.write(text.slice(0, text.length / 2), () => setTimeout(() => response.destroy(), 5));
  });
  const state: AmbiguousProvider = {
    accepted: [],
    requests: [],
    faultFor: () => undefined,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  process.env[`PROVIDER_URL_${provider.key.toUpperCase()}`] =
    `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return state;
}

describe.each(apiProviders)("$name", (provider) => {
  let wire: ProviderApi;
  beforeAll(async () => {
    wire = (await import(`../support/provider-apis/${provider.key}.ts`))[provider.key];
  });

  async function startTest(): Promise<{
    from: mailTest.TestSender;
    fakeProvider: AmbiguousProvider;
  }> {
    const fakeProvider = await startProvider(provider, wire);
    const { caller, token } = await createAccount();
    const { id: siteId } = await sites.create(caller, sites.NewSite.parse({ name: "Shop" }));
    const config = {
      provider: provider.key,
      credentials: wire.credentials,
      fromEmail: "shop@example.com",
      fromName: "Shop",
    };
    const { id: configId } = await sendingConfigs.create(caller, NewSendingConfig.parse(config));
    return {
      from: { caller, token, siteId, configId, provider: undefined as never },
      fakeProvider,
    };
  }

  const kinds: [string, (from: mailTest.TestSender) => Promise<number[]>][] = [
    ["a single mail", async (from) => [(await mailTest.send(from, { to: "one@example.com" })).id]],
    [
      "a batch",
      async (from) =>
        (await mailTest.sendBatch(from, mailTest.uniqueRecipients(3))).results.map(({ id }) => id!),
    ],
  ];
  const statuses = async (from: mailTest.TestSender) =>
    (await mailTest.listAllSends(from)).map(({ status }) => status);
  const keyed = provider.idempotencySeconds > 0;

  describe.each(kinds)("%s", (kind, accept) => {
    test.each(sampleOf(1, Object.entries(faults), `${provider.key} ${kind}`))(
      "is sent once if the provider accepts it and then responds with %s",
      async (_name, reply) => {
        const { from, fakeProvider } = await startTest();
        // The first three requests fail. Without batches, these are all mails of the batch.
        fakeProvider.faultFor = (n) => (n <= 3 ? { reply, accepts: true } : undefined);
        const ids = await accept(from);
        await mailTest.runWorkers();
        expect(fakeProvider.accepted.toSorted()).toEqual(ids);
        expect(await statuses(from)).toEqual(ids.map(() => (keyed ? "sent" : "uncertain")));
        if (!keyed) expect(fakeProvider.requests.length).toBeLessThanOrEqual(ids.length);
        // Requests with the same idempotency key have the same body.
        const bodies = Map.groupBy(fakeProvider.requests, ({ key }) => key);
        if (keyed)
          for (const some of bodies.values())
            expect(new Set(some.map(({ body }) => body)).size).toBe(1);
        fakeProvider.stop();
      },
    );

    test.each(sampleOf(1, pauses, `${provider.key} ${kind}`))(
      "is repeated until it is accepted if the provider responds $status with Retry-After",
      async (reply) => {
        const { from, fakeProvider } = await startTest();
        fakeProvider.faultFor = (n) => (n <= 3 ? { reply, accepts: false } : undefined);
        const ids = await accept(from);
        await mailTest.runWorkers();
        expect(fakeProvider.accepted.toSorted()).toEqual(ids);
        expect(await statuses(from)).toEqual(ids.map(() => "sent"));
        fakeProvider.stop();
      },
    );
  });

  if (provider.key === "resend") {
    test("keys begin with a random prefix of this installation", async () => {
      const { from, fakeProvider } = await startTest();
      const ids = [
        await mailTest.send(from, { to: "one@example.com" }),
        await mailTest.send(from, { to: "two@example.com" }),
      ];
      await mailTest.sendBatch(from, mailTest.uniqueRecipients(3));
      await mailTest.runWorkers();
      const prefix = await idempotencyPrefix();
      expect(prefix).toMatch(/^pm-[\w-]{16}$/);
      expect(fakeProvider.requests.map(({ key }) => key).slice(0, 2)).toEqual(
        ids.map(({ id }) => `${prefix}-${id}`),
      );
      expect(fakeProvider.requests[2]!.key).toMatch(new RegExp(`^${prefix}-\\d+-0-0-1$`));
      fakeProvider.stop();
    });

    test("a mail that was claimed before installations had prefixes is repeated under its old key", async () => {
      const { from, fakeProvider } = await startTest();
      fakeProvider.faultFor = (n) => (n === 1 ? { reply: "reset", accepts: false } : undefined);
      const { id } = await mailTest.send(from, { to: "one@example.com" });
      await mailTest.runWorkers({ forSeconds: 0 });
      const send = keys.send(from.caller.orgId, id);
      const { key } = (await get<{ key: { until: string } }>(send))!;
      await write(update(send, { set: { key: { revision: 1, until: key.until } } }));
      await mailTest.runWorkers();
      expect(fakeProvider.requests.map((request) => request.key)).toEqual([
        `${await idempotencyPrefix()}-${id}`,
        `pm-${id}`,
      ]);
      fakeProvider.stop();
    });
  }
});
