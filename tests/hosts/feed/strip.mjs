import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import sanitize from 'sanitize-html';

const allowedTags = [...sanitize.defaults.allowedTags, 'img'];
const text = sanitize(readFileSync('post.html', 'utf8'), { allowedTags });
mkdirSync('public', { recursive: true });
writeFileSync(
  'public/index.html',
  `<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Feed</title><body>${text}`,
);
