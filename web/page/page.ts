import '../figures/dotProducts.js';
import '../figures/sentenceInput.js';
import '../figures/decompose.js';
