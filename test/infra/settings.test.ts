import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { concurrencyLimit } from "../../infra/aws/account.ts";
import { settingsFrom } from "../../infra/aws/settings.ts";

const settings = (context: Record<string, string>) => settingsFrom((name) => context[name]);

describe("settings", () => {
  test("need not be given: a first deploy is stage dev, where only the first organization may sign up", () => {
    expect(settings({})).toMatchObject({ stage: "dev", production: false, signup: "first", defaultPlan: "free", warmThroughput: false });
  });

  test("that are wrong are all named at once", () => {
    const wrong = { stage: "Prod!", signup: "never", defaultPlan: "gold", publicUrl: "http://plain.example", alarmEmail: "ops" };
    for (const name of Object.keys(wrong)) expect(() => settings(wrong)).toThrow(`The setting ${name}: `);
  });

  test("a domain comes with its certificate", () => {
    expect(() => settings({ domainName: "mail.example.com" })).toThrow("certificateArn is missing");
  });
});

describe("account", () => {
  afterEach(() => vi.unstubAllEnvs());

  test("tells how many functions it may run at once, to a signed question", async () => {
    const asked: { url: string | undefined; authorization: string | undefined }[] = [];
    const lambda = createServer(({ url, headers: { authorization } }, response) => {
      asked.push({ url, authorization });
      response.end(JSON.stringify({ AccountLimit: { ConcurrentExecutions: 10 } }));
    });
    await new Promise<void>((listening) => lambda.listen(0, "127.0.0.1", listening));
    vi.stubEnv("AWS_ENDPOINT_URL_LAMBDA", `http://127.0.0.1:${(lambda.address() as AddressInfo).port}`);
    vi.stubEnv("AWS_REGION", "eu-west-1");
    vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
    expect(await concurrencyLimit()).toBe(10);
    lambda.close();
    expect(asked).toMatchObject([{ url: "/2016-08-19/account-settings" }]);
    expect(asked[0]?.authorization).toMatch(/^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/lambda\/aws4_request,/);
  });
});
