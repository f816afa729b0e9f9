// The tracking script in a fake page of a few objects: what it sends, with and without consent.
import { createContext, runInContext } from "node:vm";
import { expect, test } from "vitest";
import { trackingScript } from "../../shared/pages/tracking-script.ts";

const api = "https://abcdefghij.execute-api.ap-southeast-2.amazonaws.com/api/v1/tracking/";
const source = trackingScript(9_007_199_254_740_991, api);

interface Call {
  path: string;
  body: Record<string, unknown>;
}
interface Pennymail {
  track(name: string, properties?: object): void;
  identify(who: object): void;
  consent(yes?: boolean): void;
}

function page({
  consent,
  stored = {},
  early,
  beacons = true,
  locked = false,
}: {
  consent?: string;
  stored?: Record<string, string>;
  early?: unknown[];
  beacons?: boolean;
  locked?: boolean;
} = {}) {
  const sent: Call[] = [];
  const touched: string[] = [];
  const listeners: Record<string, () => void> = {};
  const take = (url: string, text: string) =>
    sent.push({ path: url.replace(api, ""), body: JSON.parse(text) as Call["body"] });
  const storage = (what: string) => {
    touched.push(what);
    if (locked) throw new Error("storage is switched off");
  };
  const location = { href: "https://shop.example/start?a=1#top" };
  const go = (_: unknown, __: string, href: string) => {
    location.href = href;
  };
  const window: Record<string, unknown> = {
    document: {
      currentScript: {
        getAttribute: (name: string) => (name === "data-consent" ? (consent ?? null) : null),
      },
      get cookie() {
        return void touched.push("cookie");
      },
      set cookie(_: unknown) {
        touched.push("cookie");
      },
    },
    localStorage: {
      getItem: (key: string) => {
        storage("get");
        return stored[key] ?? null;
      },
      setItem: (key: string, value: string) => {
        storage("set");
        stored[key] = value;
      },
      removeItem: (key: string) => {
        storage("remove");
        delete stored[key];
      },
    },
    navigator: beacons
      ? { sendBeacon: (url: string, text: string) => Boolean(take(url, text)) }
      : {},
    fetch: async (url: string, { body }: { body: string }) => void take(url, body),
    history: { pushState: go, replaceState: go },
    location,
    crypto: globalThis.crypto,
    addEventListener: (name: string, listener: () => void) => {
      listeners[name] = listener;
    },
    ...(early && { pennymail: early }),
  };
  window.window = window;
  const run = () => runInContext(source, createContext(window));
  run();
  const history = window.history as {
    pushState(state: unknown, title: string, href: string): void;
  };
  return {
    sent,
    touched,
    stored,
    listeners,
    location,
    run,
    history,
    pennymail: () => window.pennymail as Pennymail,
  };
}
const views = (sent: Call[]) =>
  sent.filter(({ body }) => body.type === "page_view").map(({ body }) => body.url);

test("is smaller than 2,000 bytes for any site and address", () => {
  expect(Buffer.byteLength(source)).toBeLessThan(2000);
});

test("tracks page views by default", () => {
  expect(views(page().sent)).toEqual(["https://shop.example/start?a=1"]);
  expect(views(page({ consent: "granted" }).sent)).toEqual(["https://shop.example/start?a=1"]);
});

test("stores, reads and sends nothing before consent if consent is required", () => {
  const { sent, touched, pennymail, history } = page({ consent: "required" });
  pennymail().track("looked");
  pennymail().identify({ email: "ann@example.com" });
  history.pushState({}, "", "https://shop.example/next");
  expect([sent, touched]).toEqual([[], []]);
});

test("consent sends the waiting events in order, with one visitor id that is kept", () => {
  const { sent, stored, pennymail } = page({ consent: "required" });
  pennymail().track("looked", { at: "shoes" });
  pennymail().identify({ email: "ann@example.com" });
  pennymail().consent();
  const [visitorId] = Object.values(stored);
  expect(visitorId).toMatch(/^[0-9a-f]{32}$/);
  const whose = { siteId: 9_007_199_254_740_991, visitorId };
  expect(sent).toEqual([
    { path: "event", body: { ...whose, type: "page_view", url: "https://shop.example/start?a=1" } },
    {
      path: "event",
      body: {
        ...whose,
        type: "custom",
        name: "looked",
        properties: { at: "shoes" },
        url: "https://shop.example/start?a=1",
      },
    },
    { path: "identify", body: { ...whose, email: "ann@example.com" } },
  ]);
  const again = page({ consent: "granted", stored });
  expect(again.sent[0]!.body.visitorId).toBe(visitorId);
  expect(page({ consent: "granted" }).sent[0]!.body.visitorId).not.toBe(visitorId);
});

test("withdrawn consent deletes the visitor id and sends nothing more", () => {
  const { sent, stored, pennymail } = page({ consent: "required" });
  pennymail().consent();
  expect(Object.keys(stored)).toHaveLength(1);
  pennymail().consent(false);
  pennymail().track("looked");
  expect([stored, sent.length]).toEqual([{}, 1]);
  const before = sent[0]!.body.visitorId;
  pennymail().consent();
  expect(sent).toHaveLength(2);
  expect(sent[1]!.body.visitorId).not.toBe(before);
});

test("withdrawn consent lasts on the next page until consent is given again", () => {
  const { sent, stored, pennymail } = page();
  const before = sent[0]!.body.visitorId;
  pennymail().consent(false);
  expect(stored).toEqual({ pennymail_visitor: "no" });
  const next = page({ stored });
  expect(next.sent).toEqual([]);
  next.pennymail().consent();
  expect(views(next.sent)).toHaveLength(1);
  expect(next.sent[0]!.body.visitorId).toMatch(/^[0-9a-f]{32}$/);
  expect(next.sent[0]!.body.visitorId).not.toBe(before);
  expect(page({ stored }).sent).toHaveLength(1);
});

test("a refusal before the script loads sends nothing", () => {
  expect(page({ early: [["consent", false]] }).sent).toEqual([]);
});

test("each page of a single-page application counts as one view", () => {
  const { sent, history, location, listeners } = page({ consent: "granted" });
  history.pushState({}, "", "https://shop.example/next");
  history.pushState({}, "", "https://shop.example/next#part");
  location.href = "https://shop.example/start?a=1";
  listeners.popstate!();
  location.href = "https://shop.example/app#/route";
  listeners.hashchange!();
  expect(views(sent)).toEqual([
    "https://shop.example/start?a=1",
    "https://shop.example/next",
    "https://shop.example/start?a=1",
    "https://shop.example/app#/route",
  ]);
});

test("calls before it is loaded are made afterwards, and a second copy does nothing", () => {
  const { sent, run } = page({ consent: "granted", early: [["track", "early", { n: 1 }]] });
  expect(sent.at(-1)!.body).toMatchObject({ name: "early", properties: { n: 1 } });
  run();
  expect(sent).toHaveLength(2);
});

test("works without beacons and without storage", () => {
  const { sent, pennymail } = page({ consent: "granted", beacons: false, locked: true });
  pennymail().track("looked");
  expect(sent).toHaveLength(2);
  expect(sent[0]!.body.visitorId).toBe(sent[1]!.body.visitorId);
});

test("at most 50 events wait for consent", () => {
  const { sent, pennymail } = page({ consent: "required" });
  for (let n = 0; n < 100; n++) pennymail().track("looked");
  pennymail().consent();
  expect(sent).toHaveLength(50);
});
