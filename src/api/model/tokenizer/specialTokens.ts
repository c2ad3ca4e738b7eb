// The special tokens around a sentence, as the post-processor of a tokenizer.json adds them.
// Source: the post-processors of Hugging Face's tokenizers.
import {
  checkedKind,
  componentOf,
  type Makers,
  member,
  type Part,
  pair,
  parts,
  refuseFile,
} from './parts.js';
import type { Token } from './subwords.js';

/** Puts special tokens around the tokens of a text. */
export type PostProcessor = (tokens: Token[]) => Token[];

const unchanged: PostProcessor = (tokens) => tokens;

/** Puts one token before a text and one after it. */
function around(part: Part): PostProcessor {
  const [before, after] = ['cls', 'sep'].map((name): Token => {
    const [text, id] = pair(part[name], name);
    return { id, text };
  }) as [Token, Token];
  return (tokens) => [before, ...tokens, after];
}

function template(part: Part): PostProcessor {
  const specialTokens = member(part, 'special_tokens', 'object');
  const items = parts(part, 'single').map((item): Token[] | undefined => {
    if (item.Sequence !== undefined) {
      const name = member(member(item, 'Sequence', 'object'), 'id', 'string');
      return name === 'A' ? undefined : refuseFile(`the sequence ${name} in the template of one`);
    }
    const name = member(member(item, 'SpecialToken', 'object'), 'id', 'string');
    const special = checkedKind(specialTokens[name], `special_tokens.${name}`, 'object');
    const texts = member(special, 'tokens', 'list');
    return member(special, 'ids', 'list').map((id, place) => ({
      id: checkedKind(id, `the ids of ${name}`, 'number'),
      text: checkedKind(texts[place], `the tokens of ${name}`, 'string'),
    }));
  });
  return (tokens) => items.flatMap((item) => item ?? tokens);
}

const makers: Makers<PostProcessor> = {
  BertProcessing: around,
  // ByteLevel only moves offsets, which are not computed here.
  ByteLevel: () => unchanged,
  RobertaProcessing: around,
  Sequence(part) {
    const steps = parts(part, 'processors').map(postProcessorOf);
    const adding = steps.filter((step) => step !== unchanged);
    // The second would take the tokens of the first for another text.
    if (adding.length > 1) refuseFile(`${adding.length} post-processors that add tokens`);
    return adding[0] ?? unchanged;
  },
  TemplateProcessing: template,
};

/** The post-processor that a part of tokenizer.json describes. */
export const postProcessorOf = (part: Part): PostProcessor => componentOf('post-processor', part, makers);
