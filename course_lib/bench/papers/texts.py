"""The five texts that the course rests on."""

TEXTS = {
    "[000]": "Kamra, Goyal, Seo and Zois, Parallel Backpropagation for Multilayer Neural Networks",
    "[001]": "Goyal, Kamra, Seo and Zois, Parallel Gradient Descent for Multilayer Feedforward Neural Networks, slides",
    "[002]": "Saraiya, Leapfrogging for parallelism in deep neural networks, 2018",
    "[003]": "Darve, CME 213, Introduction to parallel computing: Neural Networks on CUDA, Part I, 2019",
    "[004]": "Singh, Parallelizing Deep Neural Networks using MPI and GPU Computing, 2018",
}
