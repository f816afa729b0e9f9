// RSS and Atom feeds: what a template reads of them, and what is refused.
import { describe, expect, test } from "vitest";
import { decodeXml } from "../../shared/domain/campaigns/series/rss/decode-xml.ts";
import { parseRss as readRss } from "../../shared/domain/campaigns/series/rss/parse-rss.ts";

const url = "https://blog.example/feed.xml";
const parseRss = (xml: string, from: string) => {
  const parsed = readRss(xml, from);
  if ("fault" in parsed) throw new Error(parsed.fault);
  return parsed.feed;
};
const rss = (items: string, channel = "") =>
  `<?xml version="1.0"?><rss version="2.0"><channel><title>Blog</title>${channel}${items}` +
  "</channel></rss>";
const item = (fields: string) => `<item>${fields}</item>`;

describe("RSS 2.0", () => {
  test("reads an item with its extensions", () => {
    const feed = parseRss(
      `<?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE rss PUBLIC "-//Netscape//DTD RSS 0.91//EN" "http://example.com/rss.dtd">
      <rss version="2.0" xmlns:content="c" xmlns:dc="d" xmlns:media="m"><channel>
        <title>My &amp; your blog</title><link>https://blog.example/</link>
        <atom:link href="https://blog.example/feed.xml" rel="self"/>
        <description>All &lt;b&gt;news&lt;/b&gt;</description><language>en-us</language>
        <item>
          <title><![CDATA[Tulips &amp; <em>roses</em>]]></title>
          <link>/tulips</link><guid isPermaLink="false">tag:12</guid>
          <pubDate>Sun, 29 Nov 2026 12:30:00 +0200</pubDate>
          <dc:creator>Ann</dc:creator><category>Garden</category><category> </category>
          <description><![CDATA[<p>Plant them</p><p>now.</p><script>no()</script>]]></description>
          <content:encoded><![CDATA[<p>All of it</p>]]></content:encoded>
          <media:thumbnail url="https://img.example/1.jpg"/>
        </item></channel></rss>`,
      url,
    );
    expect(feed).toEqual({
      title: "My & your blog",
      link: "https://blog.example/",
      description: "All news",
      language: "en-us",
      items: [
        {
          id: "tag:12",
          title: "Tulips & roses",
          link: "https://blog.example/tulips",
          publishedAt: "2026-11-29T10:30:00.000Z",
          author: "Ann",
          summary: "Plant them now.",
          content: "<p>All of it</p>",
          image: "https://img.example/1.jpg",
          categories: ["Garden"],
        },
      ],
    });
  });

  test("sorts by date, keeps the order without dates, and drops repeated ids", () => {
    const dated = (id: string, day: string) =>
      item(`<guid>${id}</guid><pubDate>${day} Nov 2026 00:00:00 GMT</pubDate>`);
    const ids = (xml: string) => parseRss(xml, url).items.map(({ id }) => id);
    expect(ids(rss(dated("a", "01") + dated("b", "03") + dated("c", "02")))).toEqual([
      ...["b", "c", "a"],
    ]);
    const guids = ["z", "a", "z", "m"].map((id) => item(`<guid>${id}</guid>`)).join("");
    expect(ids(rss(guids))).toEqual(["z", "a", "m"]);
    expect(ids(rss(item("<title>One</title>") + item("<title>Two</title>")))).toHaveLength(2);
  });

  test("keeps only web addresses, and finds the first picture of the text", () => {
    const [one] = parseRss(
      rss(item("<link>javascript:alert(1)</link><description>&lt;img src='/a.png'></description>")),
      url,
    ).items;
    expect(one).toMatchObject({ link: null, image: "https://blog.example/a.png" });
  });

  test("cuts what is too long", () => {
    const long = "x".repeat(300_000);
    const [one] = parseRss(
      rss(item(`<title>${long}</title><description>${long}</description>`)),
      url,
    ).items;
    expect([one!.title.length, one!.summary.length]).toEqual([500, 1000]);
    expect(one!.content.length).toBe(1000);
    const many = item("<guid isPermaLink='false'>N</guid>");
    const items = Array.from({ length: 700 }, (_, i) => many.replace("N", `n${i}`)).join("");
    expect(parseRss(rss(items), url).items).toHaveLength(500);
  });
});

test("reads Atom, with xhtml, relative addresses and only a date of update", () => {
  const { title, link, language, items } = parseRss(
    `<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://blog.example/de/" xml:lang="de">
      <title type="html">Blog &amp;amp; mehr</title><link rel="self" href="feed.xml"/>
      <link href="start"/>
      <entry><id>urn:1</id><title>a &lt; b</title><updated>2026-11-29T10:00:00+01:00</updated>
        <link rel="enclosure" type="image/png" href="x.png"/><link rel="alternate" href="eins"/>
        <author><name>Ann</name></author><category term="g" label="Garten"/>
        <content type="xhtml"><div><p>Hallo <b>Welt</b></p></div></content></entry></feed>`,
    url,
  );
  expect({ title, link, language }).toEqual({
    title: "Blog & mehr",
    link: "https://blog.example/de/start",
    language: "de",
  });
  expect(items).toEqual([
    {
      id: "urn:1",
      title: "a < b",
      link: "https://blog.example/de/eins",
      publishedAt: "2026-11-29T09:00:00.000Z",
      author: "Ann",
      summary: "Hallo Welt",
      content: "<div><p>Hallo <b>Welt</b></p></div>",
      image: null,
      categories: ["Garten"],
    },
  ]);
});

test("reads RSS 1.0, whose items stand next to the channel", () => {
  const { title, items } = parseRss(
    `<rdf:RDF><channel><title>Old</title></channel><item rdf:about="https://old.example/1">
      <title>One</title><link>https://old.example/1</link><dc:date>2026-11-29</dc:date></item>
      </rdf:RDF>`,
    url,
  );
  expect([title, items[0]!.id, items[0]!.publishedAt]).toEqual([
    ...["Old", "https://old.example/1", "2026-11-29T00:00:00.000Z"],
  ]);
});

const bomb = `<!DOCTYPE x [<!ENTITY a "${"ha".repeat(50)}"><!ENTITY b "&a;&a;&a;">]>`;
test.each([
  ["entities", bomb + rss(item("<title>&b;</title>")), "declares entities"],
  [
    "an outside file",
    `<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>${rss("")}`,
    "entities",
  ],
  ["deep nesting", rss("<a>".repeat(200) + "</a>".repeat(200)), "nested too deep"],
  ["a page", "<html><body>Hello</body></html>", "neither an RSS nor an Atom feed"],
  ["a cut response", rss(item("<title>One</title>")).slice(0, -20), "cut off"],
  ["no XML", "{}", "not XML"],
])("refuses %s", (_, xml, reason) => {
  expect(() => parseRss(xml, url)).toThrow(reason);
});

test("a megabyte of anything is read or refused in short time", () => {
  const size = 1_000_000;
  for (const part of ["<item>", "</a>", "<a b='", "&amp;", "<![CDATA[", "<item/>", "<!--", "<a "]) {
    const xml = rss(part.repeat(size / part.length));
    const startedAt = performance.now();
    try {
      parseRss(xml, url);
    } catch (error) {
      expect((error as Error).message).toMatch(/XML/);
    }
    expect(performance.now() - startedAt, part).toBeLessThan(5000);
  }
});

test("decodes what the server, the first line or a mark of the bytes says", () => {
  const latin = Buffer.from(`<?xml version="1.0" encoding="ISO-8859-1"?><a>ü</a>`, "latin1");
  expect(decodeXml(latin)).toContain("ü");
  expect(decodeXml(latin, "text/xml; charset=iso-8859-15")).toContain("ü");
  expect(decodeXml(Buffer.from("\uFEFF<a>ü</a>", "utf16le"))).toBe("<a>ü</a>");
  expect(decodeXml(Buffer.from("<a>ü</a>"), "text/xml; charset=nonsense")).toBe("<a>ü</a>");
});
