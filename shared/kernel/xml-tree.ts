// Reads XML from strangers into a tree. A document type is skipped and nothing that it declares is
// expanded, so a small document cannot grow.
import { Parser } from "htmlparser2";

export interface XmlElement {
  /** With its prefix, such as `content:encoded`. */
  name: string;
  attributes: Record<string, string>;
  children: XmlElement[];
  /** The text that stands directly in it. */
  text: string;
  /** Its content as in the source. */
  source: string;
}

export class XmlFault extends Error {}

const maxDepth = 100;

/** Throws `XmlFault` if the document declares entities, is nested too deep, or is cut off. */
export function parseXml(xml: string): XmlElement {
  if (/<!ENTITY\s/i.test(xml)) throw new XmlFault("the XML declares entities");
  const top: XmlElement = { name: "", attributes: {}, children: [], text: "", source: "" };
  const open = [top];
  const starts = [0];
  let isCut = false;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (open.length > maxDepth) throw new XmlFault("the XML is nested too deep");
        const element = { name, attributes, children: [], text: "", source: "" };
        open.at(-1)!.children.push(element);
        open.push(element);
        starts.push(parser.endIndex + 1);
      },
      ontext(text) {
        open.at(-1)!.text += text;
      },
      onclosetag(_, isImplied) {
        const element = open.pop()!;
        const start = starts.pop()!;
        const closesItself = parser.endIndex + 1 === start;
        if (isImplied && !closesItself) isCut = true;
        if (!isImplied) element.source = xml.slice(start, Math.max(start, parser.startIndex));
      },
    },
    { xmlMode: true },
  );
  parser.end(xml);
  const root = top.children[0];
  if (!root) throw new XmlFault("the response is not XML");
  if (isCut) throw new XmlFault("the XML is cut off or has tags that are not closed");
  return root;
}
