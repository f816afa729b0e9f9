// A service with EMAIL_VERIFICATION=on: the sandbox has it off.
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  request,
  sessionCookie,
  signedUp,
  uniqueEmail,
  waitForMail,
} from "../support/api-client.ts";
import { type RunningTestService, startServiceProcess } from "../support/service-process.ts";

let service: RunningTestService;
beforeAll(async () => {
  service = await startServiceProcess({ EMAIL_VERIFICATION: "on" });
});
afterAll(() => service?.stop());

/** Refused only because no sender is named, once the address is verified. */
const mail = { to: "ann@example.com", subject: "Hi", html: "<p>Hi</p>" };
const linkIn = (text: string | null): string =>
  /http:\S+\/verify-email\?token=\w+/.exec(text ?? "")![0];
const submit = (token: string) =>
  fetch(`${service.url.replace("/api/v1", "")}/verify-email`, {
    method: "POST",
    body: new URLSearchParams({ token }),
    headers: { "accept-language": "en" },
  });

test("the first send says what to do, and works after the mailed link was opened", async () => {
  const { call, email } = await signedUp({ service: service.url });
  const isVerified = async () =>
    (await call<{ auth: { isVerified: boolean } }>("GET", "/auth/me")).body.data.auth.isVerified;
  expect(await isVerified()).toBe(false);
  const refused = await call("POST", "/send", mail);
  expect([refused.status, refused.body.code]).toEqual([403, "email_not_verified"]);
  expect(refused.body.error).toContain("open the link in the email");
  const link = linkIn((await waitForMail(email, service.url)).text);
  const page = await (await fetch(link, { headers: { "accept-language": "de" } })).text();
  expect(page).toContain(`Haben Sie sich mit ${email} registriert?`);
  expect((await call("POST", "/send", mail)).body.code).toBe("email_not_verified");
  const token = link.split("token=")[1]!;
  expect(await (await submit(token)).text()).toContain("Your email address is verified");
  expect(await (await submit(token)).text()).toContain("This link no longer works");
  expect((await call("POST", "/send", mail)).body.code).toBe("validation_failed");
  expect(await isVerified()).toBe(true);
});

test("the link is mailed again on request, and a program can send its token", async () => {
  const { call, email } = await signedUp({ service: service.url });
  const first = linkIn((await waitForMail(email, service.url)).text);
  const asSession = { as: "session" } as const;
  const resend = () => call("POST", "/auth/verify-email/resend", undefined, asSession);
  expect((await resend()).status).toBe(200);
  const newest = async () => linkIn((await waitForMail(email, service.url)).text);
  await expect.poll(newest).not.toBe(first);
  const token = (await newest()).split("token=")[1]!;
  const verify = () => request("POST", "/auth/verify-email", { token }, { service: service.url });
  expect((await verify()).status).toBe(200);
  expect((await verify()).body.code).toBe("invalid_token");
  expect((await resend()).body.code).toBe("already_verified");
});

test("signing up opens a session although the address is not verified", async () => {
  const body = { email: uniqueEmail(), password: "a horse of one's own" };
  const signup = await request("POST", "/auth/signup", body, { service: service.url });
  const headers = { cookie: sessionCookie(signup) };
  const me = await request("GET", "/auth/me", undefined, { service: service.url, headers });
  expect(me.status).toBe(200);
});
