import { expect, inject, test } from "vitest";
import {
  expectStatus,
  password,
  request,
  signedUp,
  uniqueEmail,
  waitForMail,
} from "../support/api-client.ts";

interface VisitedPage {
  status: number;
  headers: Headers;
  text: string;
}
async function visit(
  path: string,
  form?: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<VisitedPage> {
  const sent = form && { method: "POST", body: new URLSearchParams(form) };
  const response = await fetch(`${inject("baseUrl")}${path}`, {
    ...sent,
    headers,
    redirect: "manual",
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}
const login = async (email: string, given: string) =>
  (await request("POST", "/auth/login", { email, password: given })).status;

async function mailedLink(email: string): Promise<string> {
  expectStatus(200, await request("POST", "/auth/forgot-password", { email }));
  const [link = ""] =
    /http:\S+\/reset-password\?token=\w+/.exec((await waitForMail(email)).text ?? "") ?? [];
  return link.replace(inject("baseUrl"), "");
}
const tokenOf = (link: string) => link.split("token=")[1]!;

test("the root page links to the API reference, the password reset and the local pages", async () => {
  const { status, headers, text } = await visit("/");
  expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  for (const path of [
    "/api/v1/docs",
    "/api/v1/openapi.json",
    "/reset-password",
    "/_local/inbox",
    "/_local/sandbox",
  ])
    expect(text).toContain(`href="${path}"`);
  expect((await fetch(inject("baseUrl"), { method: "HEAD" })).status).toBe(200);
});

test.each(["/nothing", "/api/v1/nothing", "/reset-password/more", "/index.html"])(
  "%s is a 404 in JSON",
  async (path) => {
    const { status, text } = await visit(path, undefined, { accept: "text/html" });
    expect([status, JSON.parse(text).code]).toEqual([404, "not_found"]);
  },
);

test.each([
  ["/api/v1", "/api/v1/docs"],
  ["/api/v1/", "/api/v1/docs"],
  ["/docs", "/api/v1/docs"],
  ["/app/", "/app"],
])("%s redirects to %s", async (path, goal) => {
  for (const method of ["GET", "HEAD"]) {
    const { status, headers } = await fetch(`${inject("baseUrl")}${path}`, {
      method,
      redirect: "manual",
    });
    expect([method, status, headers.get("location")]).toEqual([method, 302, goal]);
  }
  expect((await fetch(`${inject("baseUrl")}${path}`, { method: "POST" })).status).toBe(404);
});

test("the pages run no scripts, submit only to the service, are not cached and send no referrer", async () => {
  for (const path of ["/", "/reset-password", "/reset-password?token=made-up"]) {
    const { headers } = await visit(path);
    const policy = headers.get("content-security-policy");
    for (const rule of [
      "default-src 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ])
      expect(policy).toContain(rule);
    expect(policy).not.toContain("script-src");
    expect([
      headers.get("referrer-policy"),
      headers.get("cache-control"),
      headers.get("x-content-type-options"),
    ]).toEqual(["no-referrer", "no-store", "nosniff"]);
  }
});

test("the mailed link can be opened repeatedly, and its form sets the password once", async () => {
  const { email } = await signedUp();
  const link = await mailedLink(email);
  for (let i = 0; i < 3; i++)
    expect((await visit(link)).text).toContain(`name="token" value="${tokenOf(link)}"`);
  const set = (next: string) => visit("/reset-password", { token: tokenOf(link), password: next });
  expect((await set("short")).text).toContain("10 to 200 characters");
  expect((await set("Password1234")).text).toContain("too easy to guess");
  const done = await set("quite a new password");
  expect(done).toMatchObject({
    status: 200,
    text: expect.stringContaining("Your new password is set"),
  });
  expect(done.headers.getSetCookie()).toEqual([]);
  expect([await login(email, password), await login(email, "quite a new password")]).toEqual([
    401, 200,
  ]);
  expect((await set("yet another password")).text).toContain("no longer works");
  expect((await visit(link)).text).toContain("no longer works");
});

test("without a valid link, the page asks for an email and mails a new link", async () => {
  const { email } = await signedUp();
  for (const path of ["/reset-password", "/reset-password?token=made-up"])
    expect((await visit(path)).text).toContain('name="email"');
  expect((await visit("/reset-password", { email: "nobody" })).text).toContain('role="alert"');
  const [known, unknown] = [
    await visit("/reset-password", { email }),
    await visit("/reset-password", { email: uniqueEmail() }),
  ];
  expect(known.text).toBe(unknown.text);
  expect((await waitForMail(email)).text).toContain("/reset-password?token=");
});

test("the page is in the visitor's language", async () => {
  for (const [acceptLanguage, title] of Object.entries({
    "de-AT,en;q=0.5": "Passwort vergessen?",
    fr: "Mot de passe oublié",
    "es;q=0.9": "¿Ha olvidado",
    "xx, *": "Forgot your password?",
  }))
    expect(
      (await visit("/reset-password", undefined, { "accept-language": acceptLanguage })).text,
    ).toContain(title);
});

test("markup in a token or address is not shown, and a form that is too long gets 413", async () => {
  const markup = '"><script>alert(1)</script>';
  expect((await visit("/reset-password", { token: markup, password: "short" })).text).not.toContain(
    "<script>",
  );
  expect((await visit("/reset-password", { email: markup })).text).not.toContain("<script>");
  expect(
    (await visit("/reset-password", { token: "x".repeat(5000), password: "short" })).status,
  ).toBe(413);
});

test("a form that is too large gets an error page in the visitor's language", async () => {
  const { status, headers, text } = await visit(
    "/reset-password",
    { token: "x".repeat(5000) },
    { accept: "text/html", "accept-language": "fr" },
  );
  expect([status, headers.get("content-type")]).toEqual([413, "text/html; charset=utf-8"]);
  expect(text).toContain("Votre saisie est trop longue");
});
