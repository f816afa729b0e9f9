// Puts the nodes of snippets in the place of their tags, so that text of a snippet is shared by all
// recipients like text of the template.
import { Output, type Template, TypeGuards } from "liquidjs";
import { LayoutTag, RenderTag, ScopedNode, ScopeStart, SnippetTag } from "./snippet-tags.ts";
import { mayEndRendering } from "./template-parts.ts";
import { childNodes } from "./variable-reads.ts";

/** The nodes that render the template. Throws an error if a layout is not where it can be. */
export function expandSnippets(nodes: Template[]): Template[] {
  const mayShareScope = !nodes.some(setsVariables);
  return nodes.flatMap((node, i) => {
    if (node instanceof LayoutTag) {
      if (!nodes.slice(0, i).every(isBlank))
        throw new Error("layout can only be used at the beginning");
      return expandLayout(node, mayShareScope);
    }
    if (!(node instanceof RenderTag) || !node.runsOnce) return [node];
    const { expanded } = node.snippet;
    return expanded.some(mayEndRendering) ? [node] : toScoped(node, expanded, mayShareScope);
  });
}

/** The nodes of a snippet, as nodes of the template that names it. */
function toScoped(tag: SnippetTag, expanded: Template[], mayShareScope: boolean): Template[] {
  if (mayShareScope && canShareScope(tag)) return expanded;
  return [new ScopeStart(tag), ...expanded.map((node) => toScopedNode(tag, node))];
}

const toScopedNode = (tag: SnippetTag, node: Template): Template =>
  TypeGuards.isHTMLToken(node.token) ? node : new ScopedNode(tag, node);

const canShareScope = (tag: SnippetTag): boolean =>
  !tag.argumentNames().length && !tag.snippet.nodes.some(setsVariables);

function expandLayout(tag: LayoutTag, mayShareScope: boolean): Template[] {
  const { expanded } = tag.snippet;
  const [at, ...others] = [...expanded.keys()].filter((i) => isContentSlot(expanded[i]!));
  if (at === undefined || others.length)
    throw new Error(
      `the snippet "${tag.snippetName}" is no layout: it needs {{ content }} once, outside of tags`,
    );
  if (expanded.some(mayEndRendering)) throw new Error("a layout cannot break");
  const content = expandSnippets(tag.content);
  const isShared = mayShareScope && canShareScope(tag) && !tag.content.some(setsVariables);
  const [before, after] = [expanded.slice(0, at), expanded.slice(at + 1)];
  if (isShared) return [...before, ...content, ...after];
  const wrap = (node: Template) => toScopedNode(tag, node);
  return [new ScopeStart(tag), ...before.map(wrap), ...content, ...after.map(wrap)];
}

function isContentSlot(node: Template): boolean {
  if (!(node instanceof Output)) return false;
  const { initial, filters } = node.value;
  const [token, ...others] = initial.postfix;
  return (
    others.length === 0 &&
    token !== undefined &&
    token.getText() === "content" &&
    filters.every(({ name }) => name === "raw" || !/^\w+$/.test(name))
  );
}

const isBlank = ({ token }: Template): boolean =>
  TypeGuards.isHTMLToken(token)
    ? !/\S/.test(token.getContent())
    : TypeGuards.isTagToken(token) && (token.name === "comment" || token.name === "#");

// `cycle`, `increment` and `decrement` remember something between nodes.
const settingTags = new Set(["assign", "capture", "cycle", "increment", "decrement"]);
const setsVariables = (node: Template): boolean =>
  (TypeGuards.isTagToken(node.token) && settingTags.has(node.token.name)) ||
  (!(node instanceof SnippetTag) && childNodes(node).some(setsVariables));
