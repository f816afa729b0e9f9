// The signature vectors as calls with a verdict, and calls that were tampered with.
import type { Notice } from "../../shared/providers/inbound/inbound.ts";
import { fixture, noticeFor, now } from "./notices.ts";

export interface Case {
  name: string;
  notice: Notice;
  secret: string;
  at: Date;
  expect: boolean;
}

const lowerCased = (headers: Record<string, string> = {}) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

const onceInQuery = (query: string): string | undefined => {
  const given = new URLSearchParams(query).getAll("secret");
  return given.length === 1 ? given[0] : undefined;
};

interface QueryCase {
  name: string;
  query: string;
  expect: boolean;
}
const querySecretCases = (key: string) => (): Case[] => {
  const { webhookSecret, cases } = fixture(key, "vectors");
  return cases.map(({ name, query, expect }: QueryCase) => ({
    name,
    notice: noticeFor(key, { querySecret: onceInQuery(query) }),
    secret: webhookSecret,
    at: now,
    expect,
  }));
};

interface Vector {
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

/** What the vectors say, as calls. */
export const vectors: Record<string, () => Case[]> = {
  sendgrid: () =>
    fixture("sendgrid", "vectors").cases.map(({ name, webhookSecret, headers, bodyB64 = "", expect }: Vector) => ({
      name,
      notice: noticeFor("sendgrid", { headers: lowerCased(headers), rawBody: Buffer.from(bodyB64, "base64") }),
      secret: webhookSecret,
      at: now,
      expect,
    })),
  ses: () =>
    fixture("ses", "vectors").sns.cases.map(({ name, message, expect }: Vector) => ({
      name,
      notice: noticeFor("ses", { rawBody: Buffer.from(JSON.stringify(message)), querySecret: "a secret in the URL" }),
      secret: "a secret in the URL",
      at: now,
      expect,
    })),
  mailgun: () =>
    fixture("mailgun", "vectors").cases.map(({ name, webhookSecret, body, expect }: Vector) => ({
      name,
      notice: noticeFor("mailgun", { rawBody: Buffer.from(body) }),
      secret: webhookSecret,
      at: new Date(1_767_225_600_000),
      expect,
    })),
  sparkpost: () => {
    const { webhookSecret, body, cases } = fixture("sparkpost", "vectors");
    return cases.map(({ name, headers, expect }: Vector) => ({
      name,
      notice: noticeFor("sparkpost", { headers: lowerCased(headers), rawBody: Buffer.from(body) }),
      secret: webhookSecret,
      at: now,
      expect,
    }));
  },
  mandrill: () => {
    const { key, vectors: all } = fixture("mandrill", "vectors");
    return all.map((vector: Vector) => ({
      name: vector.name,
      notice: noticeFor("mandrill", { headers: vector.headers ?? {}, rawBody: Buffer.from(vector.rawBody), url: vector.url ?? "" }),
      // The probe of a new webhook is signed with a word that is nobody's secret.
      secret: vector.key && vector.key !== "test-webhook" ? vector.key : key,
      at: now,
      expect: vector.expect === "valid",
    }));
  },
  resend: () => {
    const { secret, vectors: all } = fixture("resend", "vectors");
    return all.map((vector: Vector) => ({
      name: vector.name,
      notice: noticeFor("resend", { headers: vector.headers ?? {}, rawBody: Buffer.from(vector.rawBody) }),
      secret,
      at: new Date(vector.now * 1000),
      expect: vector.expect === "valid",
    }));
  },
  postmark: querySecretCases("postmark"),
  brevo: querySecretCases("brevo"),
  mailjet: querySecretCases("mailjet"),
  smtp2go: querySecretCases("smtp2go"),
};

/** Every call that differs in the last bit of one byte of what this provider proves. */
export function flipped(key: string, notice: Notice): Notice[] {
  const { headers, rawBody, url, querySecret } = notice;
  const bodies = (covers[key] ?? (() => []))(rawBody).map((at) => ({ ...notice, rawBody: bufferFlipped(rawBody, at) }));
  const named = Object.entries(headers).filter(([name]) => name !== "content-type");
  const inHeaders = named.flatMap(([name, value = ""]) =>
    textsFlipped(value).map((one) => ({ ...notice, headers: { ...headers, [name]: one } })),
  );
  const inUrl = key === "mandrill" ? textsFlipped(url).map((one) => ({ ...notice, url: one })) : [];
  const inSecret = querySecret === undefined ? [] : textsFlipped(querySecret).map((one) => ({ ...notice, querySecret: one }));
  return [...bodies, ...inHeaders, ...inUrl, ...inSecret];
}

const everyByte = (body: Buffer) => [...body.keys()];
const covers: Record<string, (body: Buffer) => number[]> = {
  sendgrid: everyByte,
  ses: everyByte,
  mandrill: everyByte,
  resend: everyByte,
  // Mailgun signs a time and a token, nothing of the event.
  mailgun: (body) => {
    const { timestamp, token, signature } = JSON.parse(body.toString()).signature;
    return [timestamp, token, signature].flatMap((value) => [...value].map((_, n) => body.indexOf(`"${value}"`) + 1 + n));
  },
};

function bufferFlipped(body: Buffer, at: number): Buffer {
  const copy = Buffer.from(body);
  copy[at]! ^= 1;
  return copy;
}
const textsFlipped = (value: string): string[] =>
  [...Buffer.from(value).keys()].map((at) => bufferFlipped(Buffer.from(value), at).toString());
