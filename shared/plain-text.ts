import { convert } from "html-to-text";

/** An HTML mail as plain text: links with their addresses, no images, no line breaks of our own. */
export const plainText = (html: string): string =>
  convert(html, {
    wordwrap: false,
    selectors: [
      { selector: "img", format: "skip" },
      { selector: "a", options: { hideLinkHrefIfSameAsText: true } },
    ],
  });
