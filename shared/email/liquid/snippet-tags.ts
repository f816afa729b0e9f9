// The tags `render` and `layout`, which bring in snippets. A snippet sees the variables of the mail
// and its own arguments, and nothing that the template around it sets.
import {
  type Context,
  type Emitter,
  evalToken,
  Hash,
  type Liquid,
  type Parser,
  Tag,
  type TagToken,
  type Template,
  type Token,
  type TopLevelToken,
  TypeGuards,
  toValueSync,
} from "liquidjs";
import { budgetKey, budgetOf } from "./budget.ts";
import { PaidContext } from "./costs.ts";

/** A parsed snippet. All tags of one template that name it share it. */
export interface ParsedSnippet {
  nodes: Template[];
  /** The nodes with those of nested snippets in their place. */
  expanded: Template[];
}

type Load = (name: string) => ParsedSnippet;
let loadSnippet: Load | undefined;

/** Parses with the snippets that `load` returns. Without it, the tags are errors. */
export function withSnippets<T>(load: Load | undefined, parse: () => T): T {
  const outer = loadSnippet;
  loadSnippet = load;
  try {
    return parse();
  } finally {
    loadSnippet = outer;
  }
}

function load(name: string): ParsedSnippet {
  if (!loadSnippet) throw new Error("snippets can only be used in html and text of a mail");
  return loadSnippet(name);
}

const setsName = (nodes: Template[], name: string): boolean =>
  nodes.some(
    (node) =>
      [...(node.localScope?.() ?? [])].some(({ content }) => content === name) ||
      setsName(node.children ? (toValueSync(node.children(false, true)) as Template[]) : [], name),
  );

const copyUnitsPerVariable = 10;

/** A tag that runs the nodes of a snippet in a scope of their own. */
export abstract class SnippetTag extends Tag {
  readonly snippetName: string;
  abstract readonly snippet: ParsedSnippet;
  protected readonly hash: Hash;

  constructor(token: TagToken, remaining: TopLevelToken[], liquid: Liquid) {
    super(token, remaining, liquid);
    const { tokenizer } = this;
    const name = tokenizer.readValue();
    if (!name || !TypeGuards.isQuotedToken(name))
      throw new Error(`${token.name} needs the name of a snippet in quotes`);
    this.snippetName = name.content;
    this.readBinding();
    tokenizer.skipBlank();
    if (tokenizer.peek() === ",") tokenizer.advance();
    this.hash = new Hash(tokenizer);
    tokenizer.skipBlank();
    if (!tokenizer.end())
      throw new Error(`${token.name} does not understand "${tokenizer.remaining()}"`);
  }

  protected readBinding(): void {}

  /** The names of the arguments. */
  argumentNames(): string[] {
    return Object.keys(this.hash.hash);
  }

  /** Whether the name can mean something else in the snippet than in the mail. */
  hides(path: string): boolean {
    const [root = ""] = path.split(".");
    return this.argumentNames().includes(root) || setsName(this.snippet.nodes, root);
  }

  *arguments(): Generator<Token> {
    for (const value of Object.values(this.hash.hash) as (Token | undefined)[])
      if (value) yield value;
  }

  *createScope(context: Context): Generator<unknown, Context, unknown> {
    const outer = context.environments as object;
    const budget = budgetOf(context);
    budget.use(copyUnitsPerVariable * Object.keys(outer).length);
    const environment: object = Object.assign(Object.create(null), outer);
    const { sync, globals, memoryLimit, liquid } = context;
    const child = new PaidContext(
      environment,
      context.opts,
      { sync, globals },
      { liquid: liquid!, memoryLimit },
    );
    child.setRegister(budgetKey, context.getRegister(budgetKey));
    child.push((yield this.hash.render(context)) as object);
    return child;
  }
}

interface Binding {
  value: Token;
  alias: string;
}

/** `{% render 'name', title: "Hello" %}`, also with `with value as name` and `for list as item`. */
export class RenderTag extends SnippetTag {
  readonly snippet: ParsedSnippet;
  declare private given: Binding | undefined;
  declare private each: Binding | undefined;

  constructor(token: TagToken, remaining: TopLevelToken[], liquid: Liquid) {
    super(token, remaining, liquid);
    this.snippet = load(this.snippetName);
  }

  protected override readBinding(): void {
    const { tokenizer } = this;
    tokenizer.skipBlank();
    const before = tokenizer.p;
    const keyword = tokenizer.readIdentifier().content;
    tokenizer.skipBlank();
    const value =
      (keyword === "with" || keyword === "for") && tokenizer.peek() !== ":"
        ? tokenizer.readValue()
        : undefined;
    if (!value) {
      tokenizer.p = before;
      return;
    }
    const afterValue = tokenizer.p;
    const hasAlias = tokenizer.readIdentifier().content === "as";
    if (!hasAlias) tokenizer.p = afterValue;
    const alias = hasAlias ? tokenizer.readIdentifier().content : this.snippetName;
    this[keyword === "with" ? "given" : "each"] = { value, alias };
  }

  /** Whether its nodes run once each time that the tag runs. */
  get runsOnce(): boolean {
    return !this.each;
  }

  override argumentNames(): string[] {
    const bound = [this.given, this.each].flatMap((binding) => binding?.alias ?? []);
    return [...super.argumentNames(), ...bound, ...(this.each ? ["forloop"] : [])];
  }

  override *arguments(): Generator<Token> {
    yield* super.arguments();
    for (const binding of [this.given, this.each]) if (binding) yield binding.value;
  }

  override *createScope(context: Context): Generator<unknown, Context, unknown> {
    const child = yield* super.createScope(context);
    if (this.given) child.push({ [this.given.alias]: yield evalToken(this.given.value, context) });
    return child;
  }

  override *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    const child = yield* this.createScope(context);
    const run = () => this.liquid.renderer.renderTemplates(this.snippet.expanded, child, emitter);
    if (!this.each) {
      yield run();
      return;
    }
    const items = toItems(yield evalToken(this.each.value, context));
    for (const [index, item] of items.entries()) {
      child.push({ [this.each.alias]: item, forloop: toForLoop(index, items.length) });
      yield run();
      child.pop();
    }
  }
}

function toItems(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null ? [] : [value];
}

const toForLoop = (index0: number, length: number) => ({
  ...{ index0, index: index0 + 1, rindex: length - index0, rindex0: length - index0 - 1 },
  ...{ first: index0 === 0, last: index0 === length - 1, length },
});

/**
 * `{% layout 'name' %}` at the beginning of a template: what follows becomes the `{{ content }}` of
 * the snippet. Content keeps the scope of the template.
 */
export class LayoutTag extends SnippetTag {
  readonly snippet: ParsedSnippet;
  readonly content: Template[];

  constructor(...given: [TagToken, TopLevelToken[], Liquid, Parser]) {
    const [token, remaining, liquid, parser] = given;
    super(token, remaining, liquid);
    this.snippet = load(this.snippetName);
    this.content = parser.parseTokens(remaining);
  }

  override render(): never {
    throw new Error("layout can only be used at the beginning");
  }
}

const scopesKey = "snippetScopes";
const scopesOf = (context: Context): Map<SnippetTag, Context> =>
  context.getRegister<Map<SnippetTag, Context>>(scopesKey) ??
  context.setRegister(scopesKey, new Map<SnippetTag, Context>());

/** Starts the scope of a snippet whose nodes follow, each as a `ScopedNode`. */
export class ScopeStart implements Template {
  readonly token: Token;
  readonly tag: SnippetTag;

  constructor(tag: SnippetTag) {
    this.tag = tag;
    this.token = tag.token;
  }

  *render(context: Context): Generator<unknown, void, unknown> {
    scopesOf(context).set(this.tag, yield* this.tag.createScope(context));
  }
}

/** A node that runs in the scope of its snippet. */
export class ScopedNode implements Template {
  readonly token: Token;
  readonly tag: SnippetTag;
  readonly node: Template;

  constructor(tag: SnippetTag, node: Template) {
    this.tag = tag;
    this.node = node;
    this.token = node.token;
  }

  *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    const scope = scopesOf(context).get(this.tag)!;
    yield this.tag.liquid.renderer.renderTemplates([this.node], scope, emitter);
  }
}
