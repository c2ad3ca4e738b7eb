// Gradients and tensor methods, which TensorFlow.js does not register by itself.
import '@tensorflow/tfjs-core/dist/register_all_gradients';
import '@tensorflow/tfjs-core/dist/public/chained_ops/register_all_chained_ops';
