// How blocks without text of their own look on the canvas.

import { IconCode, IconPlayerPlayFilled } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { corners } from "../../../email/brand/brand.ts";
import { queries } from "../../data/queries.ts";
import { t } from "../../language/translate.ts";
import { tNodes } from "../../language/translate-nodes.ts";
import { type BlockLook, cssAlign, StaticBlock } from "./block-view.tsx";
import type {
  BlockOf,
  DesignBlock,
  MenuBlock,
  ProductsBlock,
  SnippetBlock,
  SocialBlock,
} from "./design.ts";
import { useDesignEditor } from "./design-editor.ts";
import { parseDesign } from "./parse-design.ts";

interface FaceProps<Type extends DesignBlock["type"]> extends BlockLook {
  block: BlockOf<Type>;
}

interface LinkRowProps extends BlockLook {
  block: MenuBlock | SocialBlock;
  isFilled: boolean;
}

export function LinkRowFace({ block, isFilled, colors }: LinkRowProps): ReactNode {
  return (
    <span className="face" style={{ textAlign: cssAlign[block.align], fontSize: 15 }}>
      {block.links.map(({ name, href }, i) => (
        <span
          key={i}
          className={href ? "face-chip" : "face-chip face-open"}
          style={
            isFilled
              ? { background: colors.button, color: colors.buttonText, borderRadius: 14 }
              : { color: colors.link }
          }
        >
          {name || t("Name")}
        </span>
      ))}
    </span>
  );
}

export function VideoFace({ block, theme, colors }: FaceProps<"video">): ReactNode {
  const radius = Math.min(corners[theme.corners], 12);
  return (
    <span className="face">
      {block.src ? (
        <img
          src={block.src}
          alt={block.alt}
          style={{ width: "100%", borderRadius: `${radius}px ${radius}px 0 0` }}
        />
      ) : (
        <span className="face-empty" style={{ borderColor: colors.quiet, color: colors.quiet }}>
          {tNodes("{iconplayerplayfilled} Add the picture of the video", {
            iconplayerplayfilled: <IconPlayerPlayFilled size={20} />,
          })}
        </span>
      )}
      <span
        className="face-play"
        style={{
          background: colors.button,
          color: colors.buttonText,
          borderRadius: `0 0 ${radius}px ${radius}px`,
        }}
      >
        <IconPlayerPlayFilled size={14} /> {block.label}
      </span>
    </span>
  );
}

export function TableFace({ block, colors }: FaceProps<"table">): ReactNode {
  const [first] = block.rows;
  return (
    <span
      className="face face-table"
      style={{ gridTemplateColumns: `repeat(${first?.length ?? 1}, minmax(0, auto))` }}
    >
      {block.rows.flatMap((row, i) =>
        row.map((cell, j) => (
          <span
            key={`${i} ${j}`}
            style={{
              borderColor: colors.line,
              color: colors.text,
              fontWeight: block.hasHeader && i === 0 ? 700 : 400,
            }}
          >
            {cell || "\u00a0"}
          </span>
        )),
      )}
    </span>
  );
}

export function ProductsFace({ block, colors }: FaceProps<"products">): ReactNode {
  return (
    <span className="face">
      {[t("First"), t("Second")].map((name) => (
        <span key={name} className="face-product" style={{ color: colors.text }}>
          {block.image && <span style={{ background: colors.line }} />}
          <span>
            {block.title && <b>{`${name} ${block.title}`}</b>}
            {block.price && <span style={{ color: colors.quiet }}>{block.price}</span>}
          </span>
        </span>
      ))}
      <small style={{ color: colors.quiet }}>{listNote(block)}</small>
    </span>
  );
}

const listNote = ({ list, most }: ProductsBlock): string =>
  list ? t("One for each of {list}, at most {most}", { list, most }) : t("No list yet");

export function HtmlFace({ block, colors }: FaceProps<"html">): ReactNode {
  return (
    <span className="face face-code" style={{ borderColor: colors.line, color: colors.quiet }}>
      <IconCode size={16} />
      <code>{block.code.trim() || t("HTML of your own")}</code>
    </span>
  );
}

interface SnippetFaceProps extends BlockLook {
  block: SnippetBlock;
}

/** The blocks of the snippet if it is visual, else its name. */
export function SnippetFace({ block, ...look }: SnippetFaceProps): ReactNode {
  const { siteId } = useDesignEditor();
  const { data: all } = useQuery(queries.siteSnippets(siteId));
  const id = all?.snippets.find(({ name }) => name === block.name)?.id;
  const { data: snippet } = useQuery({ ...queries.snippet(id ?? 0), enabled: id !== undefined });
  const design = snippet && parseDesign(snippet.designJson);
  if (!design)
    return (
      <span
        className="face-empty"
        style={{ borderColor: look.colors.quiet, color: look.colors.quiet }}
      >
        {block.name ? t("Snippet: {name}", { name: block.name }) : t("Choose a snippet")}
      </span>
    );
  return (
    <span className="face face-snippet" inert>
      {design.blocks.map((one) => (
        <StaticBlock key={one.id} block={one} {...look} />
      ))}
    </span>
  );
}
