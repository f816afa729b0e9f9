// What pages for contacts take from the brand of a site: colours, font, corners, logo and footer.
import { type Brand, fonts } from "../email/brand/brand.ts";
import { type Colors, colorsOf, readableOn, toDarkPalette } from "../email/brand/colors.ts";
import { radiiOf } from "../email/brand/look.ts";
import { type Html, html } from "../kernel/html.ts";

/** Replaces the variables of the page style. */
export function writeBrandStyle({ colors, font, corners, logo }: Brand): Html {
  const dark = toDarkPalette(colors) ?? colors;
  const both = (pick: (sheet: Colors, page: Colors) => string) => {
    const [light, inDark] = [colors, dark].map((palette) =>
      pick(colorsOf(palette, "none"), colorsOf(palette, "page")),
    );
    return `light-dark(${light}, ${inDark})`;
  };
  const radius = radiiOf(corners);
  return {
    html: `
:root {
  --page: ${both((_, page) => page.background)};
  --sheet: ${both((sheet) => sheet.background)};
  --ink: ${both((sheet) => sheet.text)};
  --faint: ${both((sheet) => sheet.quiet)};
  --line: ${both((sheet) => sheet.quiet)};
  --accent: ${both((sheet) => sheet.link)};
  --on-accent: ${both((sheet) => sheet.background)};
  --bad: ${both((sheet) => readableOn("#c0392b", sheet.background))};
  --around: ${both((_, page) => page.quiet)};
  --around-link: ${both((_, page) => page.link)};
  font-family: ${fonts[font].family};
}
main { border-radius: ${radius.email}px; margin-top: ${logo ? "1.5rem" : "8vh"}; }
input, select, textarea { background: var(--sheet); border-radius: ${radius.thumbnail}px; }
button { border-radius: ${radius.button}px; }
.logo { max-width: 30rem; margin: 6vh auto 0; text-align: center; }
.logo img { max-width: 100%; height: auto; vertical-align: middle; }
.around { max-width: 30rem; margin: 1.5rem auto; text-align: center; color: var(--around);
  font-size: .85rem; overflow-wrap: anywhere; }
.around a { color: var(--around-link); display: inline-block; padding: .25rem .5rem; }
`,
  };
}

export function renderLogo({ logo }: Brand): Html {
  if (!logo) return html``;
  const image = html`<img src="${logo.url}" alt="${logo.alt}" width="${logo.width}">`;
  const linked = logo.link ? html`<a href="${logo.link}">${image}</a>` : image;
  return html`<p class="logo">${linked}</p>
`;
}

export function renderBrandFooter({ socialLinks, footerText }: Brand): Html {
  const links = socialLinks.map(({ name, url }) => html`<a href="${url}">${name}</a> `);
  const lines = (footerText?.trim() ?? "").split(/\r?\n/).filter(Boolean);
  const text = lines.map((line, i) => html`${i > 0 && html`<br>`}${line}`);
  if (!links.length && !lines.length) return html``;
  return html`<footer class="around">
${links.length > 0 && html`<p>${links}</p>`}
${lines.length > 0 && html`<p>${text}</p>`}
</footer>
`;
}
