// Blocks as they look in the email. Everything is text or an attribute that React escapes.

import { IconPhoto } from "@tabler/icons-react";
import type { CSSProperties, ReactNode } from "react";
import { corners, fonts } from "../../../email/brand/brand.ts";
import { type Colors, colorsOf, inkNames, type Surface } from "../../../email/brand/colors.ts";
import { directionOf } from "../../../email/languages.ts";
import { t } from "../../language/translate.ts";
import {
  type BlockOf,
  type ColumnsBlock,
  columnRatios,
  type Design,
  type DesignBlock,
  isColumns,
  itemClass,
  type Paragraph,
  type Span,
  type Theme,
} from "./design.ts";
import {
  HtmlFace,
  LinkRowFace,
  ProductsFace,
  SnippetFace,
  TableFace,
  VideoFace,
} from "./more-faces.tsx";
import { bandSpace, blockSpace, groupItems, headingSizes, textSizes, toBands } from "./to-mjml.ts";

export interface BlockLook {
  theme: Theme;
  colors: Colors;
}

export type TextOwner = Extract<DesignBlock, { text: Paragraph[] }>;
export const hasText = (block: DesignBlock): block is TextOwner => "text" in block;

/** The look of the text of a block. */
export function textStyle(block: TextOwner, { colors }: BlockLook): CSSProperties {
  const isHeading = block.type === "heading";
  const [fontSize, lineHeight] = isHeading
    ? headingSizes[block.level]
    : textSizes[block.type === "footer" ? "footer" : block.size];
  return {
    fontSize,
    lineHeight,
    fontWeight: isHeading ? 700 : 400,
    textAlign: cssAlign[block.align],
    color: block.type === "footer" ? colors.quiet : colors.text,
    "--rich-link": colors.link,
    ...Object.fromEntries(inkNames.map((ink) => [`--ink-${ink}`, colors.inks[ink]])),
    "--rich-quiet": colors.quiet,
  } as CSSProperties;
}

/** The space around a block. */
export function boxStyle(block: DesignBlock, isInColumn = false): CSSProperties {
  if (block.type === "spacer") return { height: block.height };
  // Its blocks have their own space.
  if (block.type === "snippet") return {};
  if (block.type === "image" && block.width === "edge" && !isInColumn) return {};
  const [above, below] = blockSpace[block.type];
  const side = isColumns(block) ? "--columns-side" : "--side";
  return { padding: `${above}px var(${isInColumn ? "--in-column" : side}) ${below}px` };
}

type FaceBlock = Exclude<DesignBlock, TextOwner | ColumnsBlock>;
interface FaceProps<Type extends FaceBlock["type"]> extends BlockLook {
  block: BlockOf<Type>;
}

const faces: { [Type in FaceBlock["type"]]: (props: FaceProps<Type>) => ReactNode } = {
  button: ButtonFace,
  image: ImageFace,
  divider: ({ colors }) => <span className="face-line" style={{ background: colors.line }} />,
  spacer: () => <span className="face-space" />,
  social: (props) =>
    props.block.style === "badges" ? (
      <LinkRowFace {...props} isFilled />
    ) : (
      <SocialFace {...props} />
    ),
  menu: (props) => <LinkRowFace {...props} isFilled={false} />,
  video: VideoFace,
  table: TableFace,
  products: ProductsFace,
  html: HtmlFace,
  snippet: SnippetFace,
};

/** A block without text of its own. Inline elements only, because a button can hold it. */
export function BlockFace(props: FaceProps<FaceBlock["type"]>) {
  const Face = faces[props.block.type] as (props: FaceProps<FaceBlock["type"]>) => ReactNode;
  return <Face {...props} />;
}

function ButtonFace({ block, theme, colors }: FaceProps<"button">) {
  return (
    <span className="face" style={{ textAlign: cssAlign[block.align] }}>
      <span
        className="face-button"
        style={{
          display: block.isWide ? "block" : "inline-block",
          background: colors.button,
          color: colors.buttonText,
          borderRadius: corners[theme.corners],
        }}
      >
        {block.label || t("Button")}
      </span>
    </span>
  );
}

function SocialFace({ block, colors }: FaceProps<"social">) {
  return (
    <span
      className="face"
      style={{
        textAlign: cssAlign[block.align],
        color: colors.link,
        fontSize: 13,
        lineHeight: 1.6,
      }}
    >
      {block.links.map(({ name, href }, i) => (
        <span key={i} className={href ? "face-link" : "face-link face-open"}>
          {name || t("Name")}
        </span>
      ))}
    </span>
  );
}

function ImageFace({ block, theme, colors }: FaceProps<"image">) {
  const isEdge = block.width === "edge";
  return (
    <span className="face" style={{ textAlign: cssAlign[block.align] }}>
      {block.src ? (
        <img
          src={block.src}
          alt={block.alt}
          style={{
            width: isEdge ? "100%" : `${block.width}%`,
            borderRadius: isEdge ? 0 : Math.min(corners[theme.corners], 12),
          }}
        />
      ) : (
        <span className="face-empty" style={{ borderColor: colors.quiet, color: colors.quiet }}>
          <IconPhoto size={20} /> {t("Add an image")}
        </span>
      )}
    </span>
  );
}

/** The blocks of an email in bands of one background each. */
export const bandsOf = (blocks: readonly DesignBlock[]) => {
  const bands = toBands(blocks);
  const onSurface = bands.filter(({ surface }) => surface !== "page");
  return bands.map((band) => ({
    ...band,
    isFirst: band === onSurface[0],
    isLast: band === onSurface.at(-1),
  }));
};

const isAtEdge = (block: DesignBlock | undefined) =>
  block?.type === "image" && block.width === "edge";

interface BandLook {
  surface: Surface;
  blocks: readonly DesignBlock[];
  isFirst: boolean;
  isLast: boolean;
}

/** A right-to-left email begins its lines on the right. */
export const cssAlign = { left: "start", center: "center", right: "end" } as const;

/** The background of a block within its band. */
export function bandStyle(
  { surface, blocks, isFirst, isLast }: BandLook,
  index: number,
  theme: Theme,
): CSSProperties {
  const radius = theme.corners === "square" ? 0 : 12;
  const isTop = index === 0;
  const isBottom = index === blocks.length - 1;
  const [top, bottom] = [isTop && isFirst ? radius : 0, isBottom && isLast ? radius : 0];
  return {
    ...(surface !== "page" && { background: colorsOf(theme, surface).background }),
    paddingTop: isTop && !isAtEdge(blocks[0]) ? bandSpace : 0,
    paddingBottom: isBottom && !isAtEdge(blocks.at(-1)) ? bandSpace : 0,
    borderRadius: `${top}px ${top}px ${bottom}px ${bottom}px`,
    color: colorsOf(theme, surface).text,
  };
}

export const columnsStyle = ({ ratio }: ColumnsBlock): CSSProperties =>
  ({
    "--columns": columnRatios[ratio].map((share) => `minmax(0, ${share}fr)`).join(" "),
  }) as CSSProperties;

export const emailStyle = ({ theme, language = "en" }: Design): CSSProperties =>
  ({
    direction: directionOf(language),
    background: theme.background,
    color: theme.text,
    fontFamily: fonts[theme.font].family,
    "--email-width": `${theme.width}px`,
  }) as CSSProperties;

export function Logo({ theme: { logo } }: { theme: Theme }) {
  if (!logo.src) return null;
  return <img className="canvas-logo" src={logo.src} alt={logo.alt} width={logo.width} />;
}

/** A small picture of a design. */
export function DesignPicture({ design }: { design: Design }) {
  return (
    <div
      className="design-picture"
      aria-hidden="true"
      style={{ background: design.theme.background }}
    >
      <div className="canvas" style={emailStyle(design)}>
        <Logo theme={design.theme} />
        {bandsOf(design.blocks).flatMap((band) =>
          band.blocks.map((block, i) => (
            <div key={block.id} style={bandStyle(band, i, design.theme)}>
              <StaticBlock
                block={block}
                theme={design.theme}
                colors={colorsOf(design.theme, band.surface)}
              />
            </div>
          )),
        )}
      </div>
    </div>
  );
}

interface StaticBlockProps extends BlockLook {
  block: DesignBlock;
  isInColumn?: boolean;
}

export function StaticBlock({ block, isInColumn = false, ...look }: StaticBlockProps) {
  if (isColumns(block))
    return (
      <div className="canvas-columns" style={{ ...boxStyle(block), ...columnsStyle(block) }}>
        {block.columns.map((column) => (
          <div key={column.map(({ id }) => id).join()}>
            {column.map((one) => (
              <StaticBlock key={one.id} block={one} isInColumn {...look} />
            ))}
          </div>
        ))}
      </div>
    );
  return (
    <div style={boxStyle(block, isInColumn)}>
      {hasText(block) ? (
        <>
          <div className="rich" style={textStyle(block, look)}>
            <StaticText text={block.text} />
          </div>
          <FooterNote block={block} {...look} />
        </>
      ) : (
        <BlockFace block={block} {...look} />
      )}
    </div>
  );
}

/** The legal notice of the brand, which is changed in its settings. */
export function FooterNote({ block, ...look }: BlockLook & { block: TextOwner }): ReactNode {
  const { footerNote } = look.theme;
  if (block.type !== "footer" || !footerNote) return null;
  return (
    <p
      className="footer-note"
      title={t("From the brand of the site")}
      style={textStyle(block, look)}
    >
      {footerNote}
    </p>
  );
}

/** Fields with what stands for them: their default, else their name. */
const fillFields = (text: string): string =>
  text.replace(
    /\{\{\s*(\w+)\s*(?:\|\s*default:\s*"([^"]*)"\s*)?\}\}/g,
    (_, name: string, standIn?: string) => standIn ?? name,
  );

const spanStyle = ({ bold, italic, underline, ink }: Span): CSSProperties => ({
  ...(bold && { fontWeight: 700 }),
  ...(italic && { fontStyle: "italic" }),
  ...(underline && { textDecoration: "underline" }),
  ...(ink && { color: `var(--ink-${ink})` }),
});

const StaticText = ({ text }: { text: readonly Paragraph[] }) =>
  groupItems(text)
    .flat()
    .map(({ spans, isItem, isNumbered }, i) => (
      <p key={i} className={itemClass(isItem, isNumbered)}>
        {spans.map((span, j) => (
          <span key={j} className={span.href && "face-link"} style={spanStyle(span)}>
            {fillFields(span.text)}
          </span>
        ))}
      </p>
    ));
