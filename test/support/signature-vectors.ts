// Signature vectors as requests with an expected result, and requests that were altered.
import type { InboundRequest } from "../../shared/providers/inbound/inbound-adapter.ts";
import { createNotice, readFixture, sampleTime } from "./signed-provider-webhooks.ts";

export interface SignatureCase {
  name: string;
  notice: InboundRequest;
  secret: string;
  at: Date;
  expect: boolean;
}

const lowerCased = (headers: Record<string, string> = {}) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

const onlyQuerySecret = (query: string): string | undefined => {
  const given = new URLSearchParams(query).getAll("secret");
  return given.length === 1 ? given[0] : undefined;
};

interface UrlSecretCase {
  name: string;
  query: string;
  expect: boolean;
}
const urlSecretCases = (key: string) => (): SignatureCase[] => {
  const { webhookSecret, cases } = readFixture(key, "vectors");
  return cases.map(({ name, query, expect }: UrlSecretCase) => ({
    name,
    notice: createNotice(key, { querySecret: onlyQuerySecret(query) }),
    secret: webhookSecret,
    at: sampleTime,
    expect,
  }));
};

interface SignatureVector {
  name: string;
  webhookSecret: string;
  headers?: Record<string, string>;
  body: string;
  bodyB64?: string;
  message?: object;
  expect: boolean | "valid" | "invalid";
  key?: string;
  url?: string;
  rawBody: string;
  now: number;
}

/** The vectors of each provider as requests. */
export const signatureVectors: Record<string, () => SignatureCase[]> = {
  sendgrid: () =>
    readFixture("sendgrid", "vectors").cases.map(
      ({ name, webhookSecret, headers, bodyB64 = "", expect }: SignatureVector) => ({
        name,
        notice: createNotice("sendgrid", {
          headers: lowerCased(headers),
          rawBody: Buffer.from(bodyB64, "base64"),
        }),
        secret: webhookSecret,
        at: sampleTime,
        expect,
      }),
    ),
  ses: () =>
    readFixture("ses", "vectors").sns.cases.map(({ name, message, expect }: SignatureVector) => ({
      name,
      notice: createNotice("ses", {
        rawBody: Buffer.from(JSON.stringify(message)),
        querySecret: "a secret in the URL",
      }),
      secret: "a secret in the URL",
      at: sampleTime,
      expect,
    })),
  mailgun: () =>
    readFixture("mailgun", "vectors").cases.map(
      ({ name, webhookSecret, body, expect }: SignatureVector) => ({
        name,
        notice: createNotice("mailgun", { rawBody: Buffer.from(body) }),
        secret: webhookSecret,
        at: new Date(1_767_225_600_000),
        expect,
      }),
    ),
  sparkpost: () => {
    const { webhookSecret, body, cases } = readFixture("sparkpost", "vectors");
    return cases.map(({ name, headers, expect }: SignatureVector) => ({
      name,
      notice: createNotice("sparkpost", {
        headers: lowerCased(headers),
        rawBody: Buffer.from(body),
      }),
      secret: webhookSecret,
      at: sampleTime,
      expect,
    }));
  },
  mandrill: () => {
    const { key, vectors: all } = readFixture("mandrill", "vectors");
    return all.map((vector: SignatureVector) => ({
      name: vector.name,
      notice: createNotice("mandrill", {
        headers: vector.headers ?? {},
        rawBody: Buffer.from(vector.rawBody),
        url: vector.url ?? "",
      }),
      // The test request of a new webhook is signed with a fixed word instead of the secret.
      secret: vector.key && vector.key !== "test-webhook" ? vector.key : key,
      at: sampleTime,
      expect: vector.expect === "valid",
    }));
  },
  resend: () => {
    const { secret, vectors: all } = readFixture("resend", "vectors");
    return all.map((vector: SignatureVector) => ({
      name: vector.name,
      notice: createNotice("resend", {
        headers: vector.headers ?? {},
        rawBody: Buffer.from(vector.rawBody),
      }),
      secret,
      at: new Date(vector.now * 1000),
      expect: vector.expect === "valid",
    }));
  },
  postmark: urlSecretCases("postmark"),
  brevo: urlSecretCases("brevo"),
  mailjet: urlSecretCases("mailjet"),
  smtp2go: urlSecretCases("smtp2go"),
};

/** Returns one altered request for each signed byte, with the last bit of that byte flipped. */
export function flipEachByte(key: string, notice: InboundRequest): InboundRequest[] {
  const { headers, rawBody, url, querySecret } = notice;
  const bodies = (signedBytes[key] ?? (() => []))(rawBody).map((at) => ({
    ...notice,
    rawBody: flipByte(rawBody, at),
  }));
  const named = Object.entries(headers).filter(([name]) => name !== "content-type");
  const inHeaders = named.flatMap(([name, value = ""]) =>
    flipEachCharacter(value).map((one) => ({ ...notice, headers: { ...headers, [name]: one } })),
  );
  const inUrl =
    key === "mandrill" ? flipEachCharacter(url).map((one) => ({ ...notice, url: one })) : [];
  const inSecret =
    querySecret === undefined
      ? []
      : flipEachCharacter(querySecret).map((one) => ({ ...notice, querySecret: one }));
  return [...bodies, ...inHeaders, ...inUrl, ...inSecret];
}

const everyByte = (body: Buffer) => [...body.keys()];
const signedBytes: Record<string, (body: Buffer) => number[]> = {
  sendgrid: everyByte,
  ses: everyByte,
  mandrill: everyByte,
  resend: everyByte,
  // Mailgun signs a time and a token, but not the event.
  mailgun: (body) => {
    const { timestamp, token, signature } = JSON.parse(body.toString()).signature;
    return [timestamp, token, signature].flatMap((value) =>
      [...value].map((_, n) => body.indexOf(`"${value}"`) + 1 + n),
    );
  },
};

function flipByte(body: Buffer, at: number): Buffer {
  const copy = Buffer.from(body);
  copy[at]! ^= 1;
  return copy;
}
const flipEachCharacter = (value: string): string[] =>
  [...Buffer.from(value).keys()].map((at) => flipByte(Buffer.from(value), at).toString());
