import { readdirSync, readFileSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { getOpenApiDocument } from "../../functions/openapi-document.ts";
import { retrySeconds } from "../../shared/domain/webhooks/delivery-row.ts";
import { referencePage, scriptName } from "../../shared/http/reference/page.ts";
import { getReferenceScript } from "../../shared/http/reference/scalar-script.ts";
import { html } from "../../shared/kernel/html.ts";
import { plans } from "../../shared/plans.ts";
import { apiProviders } from "../support/api-providers.ts";
import { listOperations } from "../support/openapi-document.ts";

const api = await getOpenApiDocument();
const guides = api.info.description;

describe("html", () => {
  test("escapes text and keeps html", () => {
    const name = `<b>"Ada" & 'Grace'</b>`;
    expect(
      html`<p title="${name}">${name}${html`<br>`}${[html`<i>`, html`</i>`]}${false}${undefined}${0}</p>`
        .html,
    ).toBe(
      `<p title="&lt;b&gt;&quot;Ada&quot; &amp; &#39;Grace&#39;&lt;/b&gt;">&lt;b&gt;&quot;Ada&quot; &amp; &#39;Grace&#39;&lt;/b&gt;<br><i></i>0</p>`,
    );
  });
});

describe("the script of the API reference", () => {
  test("has its version in its name", async () => {
    const [, version] = /^scalar-([\d.]+)\.js$/.exec(scriptName)!;
    const script = brotliDecompressSync(await getReferenceScript()).toString();
    expect(script).toContain(`\`${version}\``);
    expect(referencePage).toContain(`src="/api/v1/docs/${scriptName}"`);
  });
});

describe("the guides", () => {
  test("have each file", () => {
    const folder = new URL("../../shared/http/guides/", import.meta.url);
    const titles = readdirSync(folder).map(
      (file) => /^# .*/.exec(readFileSync(new URL(file, folder), "utf8"))![0],
    );
    expect(titles.filter((title) => !guides.includes(`${title}\n`))).toEqual([]);
  });

  test("link to operations", () => {
    const targets = [...guides.matchAll(/\]\(#tag\/([\w-]+)\/(\w+)\)/g)];
    expect(targets.length).toBeGreaterThan(8);
    expect(guides).not.toMatch(/\]\(#(?!tag\/|description\/)/);
    for (const [, tag, id] of targets)
      expect(listOperations(api)).toContainEqual(
        expect.objectContaining({ tags: [tag], operationId: id }),
      );
  });

  test("link to each other by title", () => {
    const anchors = [...guides.matchAll(/^# (.*)$/gm)].map(([, title]) =>
      title!
        .toLowerCase()
        .replace(/[^\w -]/g, "")
        .replaceAll(" ", "-"),
    );
    const targets = [...guides.matchAll(/\]\(#description\/([^)]*)\)/g)].map(([, id]) => id);
    expect(targets.length).toBeGreaterThan(5);
    expect(targets.filter((id) => !anchors.includes(id!))).toEqual([]);
    expect(guides).not.toMatch(/\]\([\w-]+\.md/);
  });

  test("have no two headings with one text, which would have one anchor", () => {
    const text = guides.replace(/^```[\s\S]*?^```$/gm, "");
    const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading!);
    expect(headings.filter((heading, i) => headings.indexOf(heading) !== i)).toEqual([]);
  });

  test("list every error status", () => {
    const statuses = new Set(
      listOperations(api).flatMap(({ responses }) =>
        Object.keys(responses).filter((status) => status >= "400"),
      ),
    );
    for (const status of statuses)
      if (status !== "default" && status !== "406") expect(guides).toContain(`\n| ${status} |`);
  });

  test("name the limits of every plan", () => {
    for (const { name, generalPerMinute, sendPerMinute } of Object.values(plans)) {
      const [general, send] = [generalPerMinute, sendPerMinute].map((limit) =>
        limit.toLocaleString("en-US"),
      );
      expect(guides).toContain(`| ${name} | ${general} | ${send} |`);
    }
  });

  test("say where every provider has its webhook secret", () => {
    for (const { name } of apiProviders) expect(guides).toContain(`\n| ${name} | `);
  });

  test("name the times between webhook retries", () => {
    const units = { hours: 3600, minutes: 60, seconds: 1 };
    const [, text = ""] = /retried after ([^.]*), each/.exec(guides) ?? [];
    const seconds = [...text.matchAll(/(\d+)\s(hours|minutes|seconds)/g)].map(
      ([, count, unit]) => Number(count) * units[unit as keyof typeof units],
    );
    expect(seconds).toEqual(retrySeconds);
  });
});
