"""A small training of 8 simulated workers that a study is attached to: the example of own_training.md."""

import residuum
import torch

WORKERS = 8

torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.Tanh(), torch.nn.Linear(64, 3))
parameters = list(model.parameters())
x = torch.randn(4000, 20)
y = (x[:, :3] + x[:, 3:6]).argmax(1)
optimizer = torch.optim.SGD(parameters, lr=0.5)
monitor = residuum.attach(model, "live.toml", out="results/mine", workers=WORKERS)
for step in range(400):
    gradients = []
    for worker in range(WORKERS):
        batch = torch.randint(len(x), (32,))
        loss = torch.nn.functional.cross_entropy(model(x[batch]), y[batch])
        gradients.append(torch.autograd.grad(loss, parameters))
    monitor.step(gradients, lr=0.5, loss=loss.item())
    for parameter, of_workers in zip(parameters, zip(*gradients)):
        parameter.grad = torch.stack(of_workers).mean(0)
    optimizer.step()
monitor.close()
